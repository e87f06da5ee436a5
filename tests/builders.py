"""Small values for tests of the answering stages."""

from pipeline.inference.signals import Signals
from pipeline.types import Assistant, Candidate, Track

ASSISTANT = Assistant(
    name="Lia",
    programme="Programa de pontos da Vale do Sol.",
    is_not=("um banco", "uma loja"),
    default_language="pt",
    languages=("pt", "en"),
    catalogue=False,
    refusal={"pt": "Isso eu não sei. Fale com a central."},
    clarification={"pt": "Não entendi. O que você quer saber?"},
)


def candidate(
    text: str,
    *,
    title: str = "Prazos",
    heading: str = "",
    track: Track = Track.DOCUMENT,
    name: str = "documents/prazos.md",
    ordinal: int = 0,
    score: float = 0.87654,
) -> Candidate:
    return Candidate(
        chunk_id=ordinal + 1,
        track=track,
        name=name,
        path=name,
        ordinal=ordinal,
        title=title,
        heading=heading,
        text=text,
        language="pt",
        signals=Signals(
            dense=0.5,
            sentence=0.5,
            bm25=0.5,
            coverage=0.5,
            sentence_coverage=0.5,
            sentences=1,
            known=1.0,
        ),
        score=score,
        passed=True,
    )
