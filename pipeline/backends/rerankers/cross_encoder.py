"""Cross-encoder of sentence-transformers: reads question and passage together. Extra ``gpu``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import structlog

from pipeline.errors import SettingsError
from pipeline.settings import Settings
from pipeline.types import Retrieval

Logits = npt.NDArray[np.float64]

BATCH = 16
LEAST_MARGIN = 0.2
"""How much more probable each good pair of the self-check must be than each bad one. Trained
rerankers are near 1 and 0 there; a head that was never trained stays within .05 of one half."""

_QUESTIONS = ("How do I reset my password?", "At what temperature does water boil?")
_PASSAGES = (
    "To reset your password, open the login page and choose 'Forgot my password'.",
    "At sea level water boils at a temperature of 100 degrees Celsius.",
)

log = structlog.get_logger(__name__)


def probabilities(logits: npt.ArrayLike) -> list[float]:
    """The logistic function of each logit, in [0, 1]; 0 where a logit is not a finite number.

    So a passage for which the model returns NaN is dropped, and when it does for all of them the
    question is refused. Computed as (1 + tanh(x / 2)) / 2, which doesn't overflow.
    """
    values = np.asarray(logits, dtype=np.float64)
    finite = np.isfinite(values)
    scores = np.where(finite, (1 + np.tanh(np.where(finite, values, 0) / 2)) / 2, 0.0)
    if not finite.all():
        log.warning("scores_not_finite", count=int((~finite).sum()), of=values.size)
    return [float(score) for score in scores]


class CrossEncoderReranker:
    """Scores with a model that returns one logit for a pair of question and passage."""

    cut = 0.55
    """For BAAI/bge-reranker-v2-m3; another model needs its own, see LASTRO_CUT_DOCUMENT."""

    def __init__(self, settings: Settings) -> None:
        """Load the model, and check that it ranks.

        Raises SettingsError when no model is named, the extra is not installed, the model can't be
        loaded, has more than one output, or does not tell a plainly good pair from a bad one.
        """
        if not settings.reranker_model:
            raise SettingsError("LASTRO_RERANKER=cross-encoder needs LASTRO_RERANKER_MODEL.")
        try:
            from sentence_transformers import CrossEncoder
            from torch.nn import Identity
        except ImportError as error:
            raise SettingsError(
                "LASTRO_RERANKER=cross-encoder needs the extra gpu: pip install 'lastro[gpu]'."
            ) from error
        try:
            self._model: Any = CrossEncoder(
                settings.reranker_model,
                revision=settings.reranker_revision or None,
                device=None if settings.device == "auto" else settings.device,
                cache_folder=str(settings.models_dir) if settings.models_dir else None,
                # The model's own activation, often a sigmoid, would make ours the second one.
                activation_fn=Identity(),
            )
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"LASTRO_RERANKER_MODEL={settings.reranker_model} can't be loaded: {error}"
            ) from error
        self.name = settings.reranker_model
        if self._model.num_labels != 1:
            raise SettingsError(
                f"{self.name} has {self._model.num_labels} outputs, a reranker has one:"
                " set LASTRO_RERANKER_MODEL to a model that returns one score for a pair."
            )
        self._check()

    def score(self, retrieval: Retrieval) -> list[float]:
        """One probability per candidate, in order; 0 and a log line for one without a number."""
        pairs = [(retrieval.query, candidate.text) for candidate in retrieval.candidates]
        return probabilities(self._logits(pairs)) if pairs else []

    def _logits(self, pairs: list[tuple[str, str]]) -> Logits:
        self._tell_of_cuts(pairs)
        logits = self._model.predict(pairs, batch_size=BATCH, show_progress_bar=False)
        return np.asarray(logits, dtype=np.float64)

    def _tell_of_cuts(self, pairs: list[tuple[str, str]]) -> None:
        limit = self._model.max_seq_length
        questions, passages = zip(*pairs, strict=True)
        tokens = self._model.tokenizer(
            list(questions), list(passages), truncation=False, verbose=False
        )["input_ids"]
        cut = sum(len(ids) > limit for ids in tokens)
        if cut:
            log.warning("reranker_input_cut", count=cut, of=len(pairs), limit_tokens=limit)

    def _check(self) -> None:
        """Each question belongs to the passage in the same place, and to that one alone."""
        pairs = [(question, passage) for question in _QUESTIONS for passage in _PASSAGES]
        scores = np.reshape(probabilities(self._logits(pairs)), (2, 2))
        good, bad = np.diag(scores).min(), np.diag(scores[::-1]).max()
        if good - bad < LEAST_MARGIN:
            raise SettingsError(
                f"{self.name} does not rank: it gives {good:.2f} to a passage that answers its"
                f" question and {bad:.2f} to one that does not. Is it an embedder? Set"
                " LASTRO_RERANKER_MODEL to a model that was trained as a reranker."
            )
