"""Everything that can go wrong in the pipeline, told apart once.

A worker asks two questions of a failure: is it worth another try, and what does the person who
reads the row have to know. The class answers the first, ``code`` and the message the second.
"""

from __future__ import annotations

from typing import ClassVar


class PipelineError(Exception):
    """Base of all errors that the pipeline raises on purpose.

    ``code`` is the short stable reason that is stored in rows and shown by the API; the message is
    for people and names what to do.
    """

    code: ClassVar[str] = "pipeline_error"


class PermanentError(PipelineError):
    """Another try would end the same way: the row fails with this reason."""

    code: ClassVar[str] = "permanent"


class TransientError(PipelineError):
    """Another try may succeed: the stage is run again after a pause, up to the attempt limit."""

    code: ClassVar[str] = "transient"


class SettingsError(PermanentError):
    """A setting is unknown, missing or wrong."""

    code: ClassVar[str] = "settings"


class NotFoundError(PermanentError):
    """A row that was asked for does not exist, or is not this workspace's."""

    code: ClassVar[str] = "not_found"


class GoneError(PermanentError):
    """A row existed, and its content has expired."""

    code: ClassVar[str] = "gone"


class ConflictError(PermanentError):
    """The request contradicts what is already recorded."""

    code: ClassVar[str] = "conflict"


class QueueFullError(PipelineError):
    """The queue holds as many waiting jobs as the limit allows."""

    code: ClassVar[str] = "queue_full"


class LeaseLostError(PipelineError):
    """This worker's lease ended and the row belongs to another: its result is thrown away."""

    code: ClassVar[str] = "lease_lost"


class WorkerLostError(PermanentError):
    """The stage was tried as often as allowed and no worker lived to finish it."""

    code: ClassVar[str] = "worker_lost"


class InstanceError(PermanentError):
    """The embedded instance can't start, or none runs where one is needed."""

    code: ClassVar[str] = "instance"


# --- ingestion


class UnreadableError(PermanentError):
    """A file can't be read as text: wrong encoding, binary, or a broken format."""

    code: ClassVar[str] = "unreadable"


class EmptyDocumentError(PermanentError):
    """A file holds no text to index."""

    code: ClassVar[str] = "empty"


class NoTextError(EmptyDocumentError):
    """A file holds pictures of text at most: only OCR could read it."""

    code: ClassVar[str] = "no_text"


class EncryptedError(PermanentError):
    """A file is protected by a password."""

    code: ClassVar[str] = "encrypted"


class FileTooLargeError(PermanentError):
    """A file has more bytes, pages or inflated bytes than the settings allow."""

    code: ClassVar[str] = "too_large"


class QuarantinedError(PermanentError):
    """A file takes its parser down, and is not tried again until its bytes change."""

    code: ClassVar[str] = "quarantined"


class ParseTimeoutError(QuarantinedError):
    """A file was not parsed within the limit."""

    code: ClassVar[str] = "timeout"


class ParserProcessError(TransientError):
    """The process for parsing could not be started."""

    code: ClassVar[str] = "parser_process"


class MissingLibraryError(PermanentError):
    """A format's library is not installed."""

    code: ClassVar[str] = "missing_library"


class UnsupportedFormatError(PermanentError):
    """No parser is configured for this kind of file."""

    code: ClassVar[str] = "unsupported_format"


class ForbiddenPathError(PermanentError):
    """A path leaves the content roots, or a link is followed that the operator has not allowed."""

    code: ClassVar[str] = "forbidden_path"


class MassRemovalError(PermanentError):
    """A run would remove most of a track: the operator has to say that this is meant."""

    code: ClassVar[str] = "mass_removal"


class InvalidSkillError(PermanentError):
    """A skill lacks what makes it findable: a name, a description or a body."""

    code: ClassVar[str] = "invalid_skill"


class InvalidAssistantError(PermanentError):
    """``assistant.yaml`` is missing a key or holds a wrong one."""

    code: ClassVar[str] = "invalid_assistant"


# --- backends


class BackendRejectedError(PermanentError):
    """A model server refused the request for good (4xx that no retry mends)."""

    code: ClassVar[str] = "backend_rejected"


class BackendUnavailableError(TransientError):
    """A model server did not answer, or said that it is busy or loading."""

    code: ClassVar[str] = "backend_unavailable"


class BackendTimeoutError(TransientError):
    """A model server did not answer within the limit."""

    code: ClassVar[str] = "timeout"


class ContextOverflowError(PermanentError):
    """The prompt and its answer don't fit the model's window: only a smaller prompt helps."""

    code: ClassVar[str] = "context_overflow"


class InvalidVectorError(PermanentError):
    """An embedder returned vectors of the wrong number or length, or not finite ones."""

    code: ClassVar[str] = "invalid_vector"


class EmptyAnswerError(TransientError):
    """A generator ended without any text."""

    code: ClassVar[str] = "empty_answer"


class IndexMismatchError(PermanentError):
    """The configured embedder is not the one that made the live index."""

    code: ClassVar[str] = "index_mismatch"


class NoIndexError(PermanentError):
    """Nothing has been ingested yet, so there is nothing to search."""

    code: ClassVar[str] = "no_index"
