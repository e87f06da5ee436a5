"""The parser of this process, built at first use and kept: cache, sandbox, and what is in it."""

from __future__ import annotations

import functools

from pipeline.backends.parsers import registry
from pipeline.backends.parsers.registry import Parsers
from pipeline.ports import Parser
from pipeline.settings import settings
from pipeline.worker.parse_cache import ParseCache
from pipeline.worker.sandbox import Sandbox


@functools.cache
def parsers() -> Parsers:
    """Which parser reads which file here. Raises SettingsError."""
    return registry.configured(settings())


@functools.cache
def parser() -> Parser:
    """Reads any file in a child process, and keeps what takes long."""
    chosen = settings()
    folder = chosen.parse_cache_dir or chosen.home / "parsed"
    return ParseCache(Sandbox(chosen), parsers(), folder, chosen.parse_cache_bytes)
