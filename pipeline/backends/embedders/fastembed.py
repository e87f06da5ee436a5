"""Models of fastembed on ONNX Runtime, for a small CPU: extra ``cpu``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.backends.embedders.batches import batches, embedded
from pipeline.backends.embedders.prefixes import prefixes
from pipeline.errors import SettingsError
from pipeline.ports import Vectors
from pipeline.settings import Settings
from pipeline.vectors import unit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DEFAULT_MODEL = "intfloat/multilingual-e5-small"
"""Not in fastembed's own list; its repository has the ONNX file."""

DEFAULT_DIMENSION = 384
_MODEL_FILES = ("onnx/model.onnx", "model.onnx")


@dataclass(frozen=True)
class FastembedEmbedder:
    """A model by its name in fastembed's list, or a folder with its ONNX file and tokenizer."""

    loaded: Any
    tokenizer: Tokenizer
    model: str
    revision: str
    dimension: int
    query_prefix: str
    passage_prefix: str
    batch: int
    batch_tokens: int

    @classmethod
    def from_settings(cls, settings: Settings) -> FastembedEmbedder:
        """Raises SettingsError when the extra or the model is missing, or a setting is not its."""
        try:
            from fastembed import TextEmbedding
            from tokenizers import Tokenizer
        except ImportError as error:
            raise SettingsError(
                "LASTRO_EMBEDDER=fastembed needs the extra `cpu`: pip install 'lastro[cpu]' "
                f"({error})."
            ) from None
        model = settings.embedder_model or DEFAULT_MODEL
        folder = Path(model) if Path(model).is_dir() else None
        known = {entry["model"].lower() for entry in TextEmbedding.list_supported_models()}
        if model.lower() not in known:
            _register(model, folder, settings)
        try:
            loaded = TextEmbedding(
                model,
                cache_dir=str(settings.models_dir) if settings.models_dir else None,
                threads=settings.embedder_threads,
                specific_model_path=str(folder) if folder else None,
            )
            (probe,) = loaded.embed(["lastro"])
        except Exception as error:  # noqa: BLE001 - downloads, files, runtime: all their own
            raise SettingsError(f"LASTRO_EMBEDDER_MODEL={model} can't be loaded: {error}") from None
        if settings.embedder_dimension not in (None, len(probe)):
            raise SettingsError(
                f"LASTRO_EMBEDDER_DIMENSION={settings.embedder_dimension}, but {model} makes "
                f"vectors of {len(probe)}: leave it unset."
            )
        tokenizer = Tokenizer.from_str(loaded.model.tokenizer.to_str())
        _check_length(tokenizer, model, settings)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        query, passage = prefixes(model, settings)
        return cls(
            loaded=loaded,
            tokenizer=tokenizer,
            model=model,
            revision=settings.embedder_revision,
            dimension=len(probe),
            query_prefix=query,
            passage_prefix=passage,
            batch=settings.embedder_batch,
            batch_tokens=settings.embedder_batch_tokens,
        )

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed([self.query_prefix + text for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed([self.passage_prefix + text for text in texts])

    def count_tokens(self, text: str) -> int:
        """See ports.Embedder."""
        return self._tokens(self.passage_prefix + text)

    def _tokens(self, text: str) -> int:
        return len(self.tokenizer.encode(text).ids)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        parts = batches(texts, self._tokens, most_texts=self.batch, most_tokens=self.batch_tokens)

        def embed(batch: list[str]) -> Vectors:
            # `embed`, not `query_embed`: some models put a prefix of their own there.
            return np.stack(list(self.loaded.embed(batch, batch_size=len(batch))))

        rows = embedded(texts, parts, embed)
        return unit(rows, count=len(texts), dimension=self.dimension)


def _register(model: str, folder: Path | None, settings: Settings) -> None:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    file = _MODEL_FILES[0]
    pooling = PoolingType.MEAN
    if folder:
        found = [name for name in _MODEL_FILES if (folder / name).is_file()]
        if not found:
            raise SettingsError(
                f"LASTRO_EMBEDDER_MODEL={model} holds neither {' nor '.join(_MODEL_FILES)}."
            )
        file = found[0]
        pooling = PoolingType.CLS if _pools_by_first(folder) else PoolingType.MEAN
    TextEmbedding.add_custom_model(
        model=model,
        pooling=pooling,
        normalization=True,
        sources=ModelSource(hf=model),
        dim=settings.embedder_dimension or DEFAULT_DIMENSION,
        model_file=file,
    )


def _pools_by_first(folder: Path) -> bool:
    """Whether a sentence-transformers folder says that the first token stands for the text."""
    try:
        told = json.loads((folder / "1_Pooling" / "config.json").read_text())
    except FileNotFoundError:
        return False
    return bool(told.get("pooling_mode_cls_token"))


def _check_length(tokenizer: Tokenizer, model: str, settings: Settings) -> None:
    """Refuse chunks that the model would cut off in silence."""
    limit = (tokenizer.truncation or {}).get("max_length")
    if limit is not None and settings.chunk_tokens > limit:
        raise SettingsError(
            f"LASTRO_CHUNK_TOKENS={settings.chunk_tokens}, but {model} reads {limit} tokens: "
            "set it to that or less."
        )
