"""Any sentence-transformers model in process, on a GPU or a large CPU. Extra ``gpu``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.backends.embedders.batches import batches, embedded
from pipeline.backends.embedders.prefixes import prefixes
from pipeline.errors import SettingsError
from pipeline.ports import Vectors
from pipeline.settings import Settings
from pipeline.vectors import unit

DEFAULT_MODEL = "BAAI/bge-m3"

PASSAGE_PROMPTS = ("passage", "document")
"""Names under which models keep what they want before a passage."""


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
    batch_tokens: int

    @classmethod
    def from_settings(cls, settings: Settings) -> SentenceTransformersEmbedder:
        """Raises SettingsError when the extra or the model is missing, or a setting is not its."""
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise SettingsError(
                "LASTRO_EMBEDDER=sentence-transformers needs the extra `gpu`: "
                f"pip install 'lastro[gpu]' ({error})."
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
            raise SettingsError(f"LASTRO_EMBEDDER_MODEL={model} can't be loaded: {error}") from None
        _check_length(loaded, model, settings)
        dimension = int(loaded.encode(["lastro"], show_progress_bar=False).shape[1])
        if settings.embedder_dimension not in (None, dimension):
            raise SettingsError(
                f"LASTRO_EMBEDDER_DIMENSION={settings.embedder_dimension}, but {model} makes "
                f"vectors of {dimension}: leave it unset."
            )
        prompts: dict[str, str] = loaded.prompts or {}
        own = next((prompts[name] for name in PASSAGE_PROMPTS if prompts.get(name)), "")
        query, passage = prefixes(model, settings, (prompts.get("query", ""), own))
        return cls(
            loaded=loaded,
            model=model,
            revision=settings.embedder_revision,
            dimension=dimension,
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
        ids = self.loaded.tokenizer(text, truncation=False, verbose=False)
        return len(ids["input_ids"])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        parts = batches(texts, self._tokens, most_texts=self.batch, most_tokens=self.batch_tokens)

        def embed(batch: list[str]) -> Vectors:
            made: Vectors = self.loaded.encode(
                batch,
                prompt="",  # ours is in the text; the model's default one would come before it
                batch_size=len(batch),
                convert_to_numpy=True,
                show_progress_bar=False,
            )
            return made

        rows = embedded(texts, parts, embed)
        return unit(rows, count=len(texts), dimension=self.dimension)


def _check_length(loaded: Any, model: str, settings: Settings) -> None:
    """Refuse chunks that the model would cut off in silence."""
    longest = loaded.max_seq_length
    if longest is not None and settings.chunk_tokens > longest:
        raise SettingsError(
            f"LASTRO_CHUNK_TOKENS={settings.chunk_tokens}, but {model} reads {longest} tokens: "
            "set it to that or less."
        )
