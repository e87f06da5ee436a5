"""What a file does to its parser costs that file alone: each test really does it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import (
    EncryptedError,
    FileTooLargeError,
    ParseTimeoutError,
    QuarantinedError,
    UnreadableError,
    UnsupportedFormatError,
)
from pipeline.settings import Settings
from pipeline.types import Document, Track
from pipeline.worker.sandbox import Sandbox
from tests import office
from tests.running import until
from tests.stub_parser import SETTING


class Reader:
    def __init__(self, **values: Any) -> None:
        settings = {"parsers": SETTING, "parse_timeout_s": 30} | values
        self.sandbox = Sandbox(Settings.model_validate(settings))

    def read(self, text: str, path: str = "a.stub") -> Document:
        return self.sandbox.parse(text.encode(), path, Track.DOCUMENT)

    def pid(self) -> int:
        return int(self.read("pid").text)


@pytest.fixture
def readers() -> Iterator[list[Reader]]:
    made: list[Reader] = []
    yield made
    for reader in made:
        reader.sandbox.close()


@pytest.fixture
def reader(readers: list[Reader]) -> Reader:
    readers.append(Reader())
    return readers[0]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_one_process_reads_all_files(reader: Reader) -> None:
    made = reader.sandbox.parse(
        b"---\ntitle: X\nday: 2026-05-24\n---\ntext\n", "a.md", Track.DOCUMENT
    )
    assert (made.title, made.text, made.metadata) == (
        "X",
        "text\n",
        {"title": "X", "day": "2026-05-24"},
    )
    assert made.track is Track.DOCUMENT
    assert reader.read("lose page 3").lost == ("page 3",)
    assert reader.pid() == reader.pid() != os.getpid()
    whole = reader.sandbox.parse(office.letter("Returns", "text"), "a.docx", Track.DOCUMENT)
    assert whole.title == "Returns"


def test_a_reason_comes_back_as_the_error_that_it_was(reader: Reader) -> None:
    locked = office.encrypted(office.letter("A"))
    with pytest.raises(EncryptedError, match=r"a\.docx is protected by a password"):
        reader.sandbox.parse(locked, "a.docx", Track.DOCUMENT)
    with pytest.raises(UnsupportedFormatError):
        reader.read("x", "a.odt")
    with pytest.raises(UnreadableError, match="LookupError: nowhere"):
        reader.read("fail nowhere")


def test_a_file_that_hangs_is_given_up_in_time(readers: list[Reader], tmp_path: Path) -> None:
    reader = Reader(parse_timeout_s=1.5)
    readers.append(reader)
    mark = tmp_path / "pid"
    began = time.monotonic()
    with pytest.raises(ParseTimeoutError, match="LASTRO_PARSE_TIMEOUT_S"):
        reader.read(f"hang {mark}")
    assert time.monotonic() - began >= 1.5
    assert not is_alive(int(mark.read_text()))
    assert reader.read("text").text == "text"


def test_a_death_may_be_chance_and_two_are_the_file(reader: Reader, tmp_path: Path) -> None:
    assert reader.read(f"die-once {tmp_path / 'mark'}").text.startswith("die-once")
    with pytest.raises(QuarantinedError, match="ended its parser 2 times"):
        reader.read("die")
    assert reader.read("text").text == "text"


def test_a_process_that_was_killed_between_two_files_is_replaced(reader: Reader) -> None:
    first = reader.pid()
    os.kill(first, signal.SIGKILL)
    assert reader.pid() != first


def test_memory_has_a_limit(readers: list[Reader]) -> None:
    reader = Reader(parse_memory_mb=300)
    readers.append(reader)
    with pytest.raises(FileTooLargeError, match="LASTRO_PARSE_MEMORY_MB"):
        reader.read(f"eat {400 * 1024 * 1024}")
    assert reader.read(f"eat {100 * 1024 * 1024}")


def test_the_process_is_replaced_after_a_number_of_files(readers: list[Reader]) -> None:
    reader = Reader(parse_recycle=2)
    readers.append(reader)
    first, second, third = (reader.pid() for _ in range(3))
    assert first == second != third
    assert not is_alive(first)


def test_no_secret_is_in_the_process(
    readers: list[Reader], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LASTRO_DATABASE_URL", "postgresql://somebody:hidden@db/x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    reader = Reader(redis_url="redis://:hidden@broker/0", parse_max_pages=7)
    readers.append(reader)
    seen = reader.read("environment").text
    assert "hidden" not in seen
    assert "LASTRO_PARSE_MAX_PAGES=7" in seen


def test_it_dies_with_its_parent_even_in_mid_file(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    program = f"""
        from pipeline.settings import Settings
        from pipeline.types import Track
        from pipeline.worker.sandbox import Sandbox
        Sandbox(Settings(parsers="{SETTING}")).parse(b"hang {mark}", "a.stub", Track.DOCUMENT)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)])
    until(lambda: mark.exists() and mark.read_text(), what="the child reads the file")
    child = int(mark.read_text())
    assert is_alive(child)
    parent.kill()
    parent.wait()
    until(lambda: not is_alive(child), what="the child is gone")


def test_memory_levels_off_over_many_long_files(readers: list[Reader]) -> None:
    reader = Reader(parse_recycle=5)
    readers.append(reader)
    data = office.pdf(f"Page {n}. " + "All of it is text. " * 20 for n in range(100))
    sizes = []
    for number in range(20):
        made = reader.sandbox.parse(data, f"{number}.pdf", Track.DOCUMENT)
        assert "Page 99." in made.text
        child = reader.sandbox._child
        assert child is not None
        status = Path(f"/proc/{child._process.pid}/status").read_text()
        sizes.append(int(status.partition("VmRSS:")[2].split()[0]))
    assert max(sizes[5:]) < 1.1 * max(sizes[:5]), "kilobytes"
