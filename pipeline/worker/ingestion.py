"""The tasks of queue ``ingest``: plan a run, then parse, chunk, embed and publish each file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

from sqlalchemy import Connection

from pipeline.db import (
    assistants,
    builds,
    content,
    index_sets,
    ledger,
    publishing,
    quarantine,
    runs,
)
from pipeline.db.content import StagedVectors, Terms
from pipeline.db.engine import transaction
from pipeline.db.index_sets import IndexSet
from pipeline.db.ledger import Claim
from pipeline.db.tables import ingest_items, ingest_runs
from pipeline.errors import ConflictError, InvalidAssistantError, NoIndexError, QuarantinedError
from pipeline.ingestion import assistant as assistant_file
from pipeline.ingestion import chunk as chunker
from pipeline.ingestion import embed as embedding
from pipeline.ingestion.parse import read
from pipeline.ingestion.publish import postings
from pipeline.settings import settings
from pipeline.text import language as languages
from pipeline.text.normalise import content_hash
from pipeline.types import Chunk, Document, JobStatus, Stage, Track
from pipeline.worker import models, parsing, planning
from pipeline.worker.stages import Held, stage_task
from pipeline.worker.sweep import fail_row

EMBED_AT_ONCE = 16
"""Chunks whose vectors are saved together: what a killed worker has to make again, at most."""

TEXTS_AT_ONCE = 200
"""Texts of them, if they are more than one chunk: each is a lock while it is embedded."""


@stage_task(ingest_runs, Stage.PLAN, fail_row)
def plan(held: Held) -> None:
    """Compare the content folder with what is live and record what there is to do."""
    run = held.row
    with transaction() as conn:
        if runs.must_wait(conn, run):
            ledger.wait(conn, held.claim)
            return
    if run["index_set_id"] is not None:
        _plan_build(held)
        return
    with transaction() as conn:
        live = _live_set(conn)
    found = planning.find(live.id if live else None, run)
    skipped = [{"path": path, "reason": reason} for path, reason in found.skipped]
    if live and not live.recipe.makes_the_same_as(models.recipe()):
        skipped.append({"path": ".", "reason": _OTHER_RECIPE})
    try:
        assistant = assistant_file.load(Path(run["root"]))
    except InvalidAssistantError as error:
        # The assistant stays as it was; one bad file doesn't cost the others.
        skipped.append({"path": assistant_file.FILE, "reason": str(error)})
    else:
        with transaction() as conn:
            if assistant is None:
                assistants.remove(conn, run["workspace"])
            else:
                assistants.save(conn, run["workspace"], assistant_file.as_json(assistant))
    work = [
        runs.Work(path, track, action)
        for action, files in (
            ("add", found.add),
            ("change", found.change),
            ("remove", found.remove),
        )
        for path, track in files
    ]
    with transaction() as conn:
        held.next += runs.planned(
            conn,
            held.claim,
            work,
            unchanged=found.unchanged,
            skipped=skipped,
        )


@stage_task(ingest_items, Stage.PARSE, fail_row)
def parse(held: Held) -> None:
    """Read the file and store its text as a staged version."""
    item = held.row
    path = item["path"]
    with transaction() as conn:
        order = runs.order(conn, item["run_id"])
    if order.index_set_id is not None:
        _copy(held, order.index_set_id)
        return
    data = read(
        Path(order.root),
        path,
        max_bytes=settings().max_file_bytes,
        follow_links=settings().follow_links,
    )
    its_hash = content_hash(data)
    try:
        document = parsing.parser().parse(data, path, Track(item["track"]))
    except QuarantinedError as error:
        with transaction() as conn:
            quarantine.put(conn, item["workspace"], path, its_hash, str(error))
        raise
    with transaction() as conn:
        index_set = index_sets.ensure_live(conn, models.recipe())
    with transaction() as conn:
        content.discard(conn, item["version_id"])
        version_id = content.stage_version(
            conn,
            workspace=item["workspace"],
            index_set_id=index_set.id,
            document=document,
            content_hash=its_hash,
        )
        quarantine.release(conn, item["workspace"], path)
        runs.set_version(conn, held.claim, version_id)
        ledger.hand_on(conn, held.claim, Stage.CHUNK)
    held.next = [(Stage.CHUNK, held.claim.id)]


@stage_task(ingest_items, Stage.CHUNK, fail_row)
def chunk(held: Held) -> None:
    """Cut the staged text into chunks."""
    staged, index_set = _staged(held)
    document = staged.document
    chunking = index_set.recipe.chunking
    language = document.language or languages.detect(
        document.text, languages=assistant_file.DEFAULT.languages, fallback="en"
    )
    pieces = [
        replace(piece, language=language)
        for piece in chunker.chunk(
            document,
            count_tokens=models.embedder_of(index_set).count_tokens,
            limit=chunking["tokens"],
            overlap=chunking["overlap"],
        )
    ]
    terms = [Terms(*postings(piece)) for piece in pieces]
    with transaction() as conn:
        content.stage_chunks(conn, staged.id, pieces, terms)
        ledger.hand_on(conn, held.claim, Stage.EMBED)
    held.next = [(Stage.EMBED, held.claim.id)]


@stage_task(ingest_items, Stage.EMBED, fail_row)
def embed(held: Held) -> None:
    """Give every chunk that has none yet its vectors; a text that has one keeps it."""
    staged, index_set = _staged(held)
    embedder = models.embedder_of(index_set)
    while True:
        with transaction() as conn:
            pieces = content.load_chunks(conn, staged.id, without_vectors=True, limit=EMBED_AT_ONCE)
            pieces = _few(pieces)
            texts = embedding.texts(list(pieces.values()))
            known = content.vectors_of(conn, staged.index_set_id, texts)
        if not pieces:
            break
        unknown = [text for text in texts if text not in known]
        with content.alone_with(staged.index_set_id, unknown):
            with transaction() as conn:
                known |= content.vectors_of(conn, staged.index_set_id, unknown)
            made = embedding.embed(list(pieces.values()), embedder, known)
            vectors = [
                StagedVectors(chunk_id, piece, one.vector, one.sentence_vectors)
                for (chunk_id, piece), one in zip(pieces.items(), made, strict=True)
            ]
            with transaction() as conn:
                content.stage_vectors(conn, staged, vectors)
    with transaction() as conn:
        ledger.hand_on(conn, held.claim, Stage.PUBLISH)
    held.next = [(Stage.PUBLISH, held.claim.id)]


@stage_task(ingest_items, Stage.PUBLISH, fail_row)
def publish(held: Held) -> None:
    """Switch the document to the staged version, or remove it, in one transaction."""
    item = held.row
    with transaction() as conn:
        building = runs.order(conn, item["run_id"]).index_set_id
    if item["action"] == "remove":
        with transaction() as conn:
            publishing.remove(conn, item["workspace"], item["path"], index_set_id=building)
            if building is None:
                quarantine.release(conn, item["workspace"], item["path"])
            _done(conn, held.claim)
    else:
        staged, index_set = _staged(held)
        if building is None and index_set.state != "live":
            raise ConflictError("Another index became the live one meanwhile: ingest again.")
        with transaction() as conn:
            pieces = content.load_chunks(conn, staged.id)
        terms = {chunk_id: Terms(*postings(piece)) for chunk_id, piece in pieces.items()}
        with transaction() as conn:
            publishing.publish(conn, staged, terms)
            _done(conn, held.claim, staged.document)
    with transaction() as conn:
        # In a transaction of its own: two last items that end at once must see each other.
        held.next += runs.settle(conn, UUID(str(item["run_id"])))
        held.next += runs.next_waiting(conn)


_OTHER_RECIPE = (
    "The settings of embedder or chunks are not those that the index was made with, which stay in "
    "force: `lastro index create`, `build` and `activate` make one with the new ones beside it."
)


def _plan_build(held: Held) -> None:
    """Record what an index set lacks of the live one, for the workspace of the run."""
    run = held.row
    with transaction() as conn:
        live = index_sets.live_for(conn, models.identity())
        found = builds.differences(conn, live.id, run["index_set_id"])
        work = [
            runs.Work(one.path, one.track, one.action)
            for one in found
            if one.workspace == run["workspace"]
        ]
        held.next += runs.planned(conn, held.claim, work, unchanged=0, skipped=[])


def _copy(held: Held, set_id: int) -> None:
    """Stage what the live index shows of the document; one that is gone by now is done."""
    item = held.row
    with transaction() as conn:
        content.discard(conn, item["version_id"])
        live = index_sets.live(conn)
        version_id = builds.copy_version(conn, item["workspace"], item["path"], live.id, set_id)
        if version_id is None:
            _done(conn, held.claim)
        else:
            runs.set_version(conn, held.claim, version_id)
            ledger.hand_on(conn, held.claim, Stage.CHUNK)
            held.next = [(Stage.CHUNK, held.claim.id)]
    if version_id is None:
        with transaction() as conn:
            held.next += runs.settle(conn, UUID(str(item["run_id"])))


def _done(conn: Connection, claim: Claim, document: Document | None = None) -> None:
    """End the item; what its document lacks stands where the reason of a failure would."""
    lost = document.lost if document else ()
    ledger.finish(
        conn,
        claim,
        JobStatus.PARTIAL if lost else JobStatus.DONE,
        error_code=JobStatus.PARTIAL if lost else None,
        error="; ".join(lost) or None,
        warnings=list(document.warnings) if document else [],
    )


def _few(pieces: dict[int, Chunk]) -> dict[int, Chunk]:
    """The first of ``pieces``, as many as have `TEXTS_AT_ONCE` texts."""
    few: dict[int, Chunk] = {}
    texts = 0
    for chunk_id, piece in pieces.items():
        texts += 1 + len(piece.sentences)
        if few and texts > TEXTS_AT_ONCE:
            break
        few[chunk_id] = piece
    return few


def _staged(held: Held) -> tuple[content.Version, IndexSet]:
    """The version that an item works on, and the index set that it goes into."""
    with transaction() as conn:
        version = content.version(conn, held.row["version_id"])
        return version, index_sets.get(conn, version.index_set_id)


def _live_set(conn: Connection) -> IndexSet | None:
    try:
        return index_sets.live_for(conn, models.identity())
    except NoIndexError:
        return None
