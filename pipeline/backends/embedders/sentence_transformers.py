"""Any sentence-transformers model in process, on a GPU or a large CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.backends.embedders.prefixes import prefixes
from pipeline.errors import SettingsError
from pipeline.ports import Vectors
from pipeline.settings import Settings

DEFAULT_MODEL = "BAAI/bge-m3"


@dataclass(frozen=True)
class SentenceTransformersEmbedder:
    """A model by its id or folder, loaded when it is made: the dimension is the model's own."""

    loaded: Any
    model: str
    revision: str
    dimension: int
    query_prefix: str
    passage_prefix: str
    batch: int

    @classmethod
    def from_settings(cls, settings: Settings) -> SentenceTransformersEmbedder:
        """Raises SettingsError when the extra or the model is missing, or the dimension differs."""
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise SettingsError(
                "LASTRO_EMBEDDER=sentence-transformers needs the extra `gpu`: "
                "pip install 'lastro[gpu]'."
            ) from None
        model = settings.embedder_model or DEFAULT_MODEL
        try:
            loaded = SentenceTransformer(
                model,
                device=None if settings.device == "auto" else settings.device,
                revision=settings.embedder_revision or None,
                cache_folder=str(settings.models_dir) if settings.models_dir else None,
            )
        except (OSError, ValueError) as error:
            raise SettingsError(f"LASTRO_EMBEDDER_MODEL={model}: {error}") from None
        dimension = int(loaded.encode(["lastro"]).shape[1])
        if settings.embedder_dimension not in (None, dimension):
            raise SettingsError(
                f"LASTRO_EMBEDDER_DIMENSION={settings.embedder_dimension}, but {model} makes "
                f"vectors of {dimension}: leave it unset."
            )
        query, passage = prefixes(model, settings)
        return cls(
            loaded,
            model,
            settings.embedder_revision,
            dimension,
            query,
            passage,
            settings.embedder_batch,
        )

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed([self.query_prefix + text for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed([self.passage_prefix + text for text in texts])

    def count_tokens(self, text: str) -> int:
        """See ports.Embedder."""
        return len(self._tokenizer(self.passage_prefix + text, truncation=False)["input_ids"])

    @cached_property
    def _tokenizer(self) -> Any:
        return self.loaded.tokenizer

    def _embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = self.loaded.encode(
            list(texts),
            batch_size=self.batch,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)
