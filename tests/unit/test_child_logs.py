"""The children's logs stay small, and a watcher sees each line once."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.local import child_logs
from pipeline.local.child_logs import ChildLogs, tail


def test_whole_new_lines_are_shown_with_the_childs_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "api.log").write_text("of an earlier start\n")
    logs = ChildLogs(tmp_path, echo=True)
    with logs.path("api").open("a") as file:
        file.write("first\nsec")
        file.flush()
        logs.look()
        assert capsys.readouterr().err == "api       | first\n"
        file.write("ond\n")
        file.flush()
        logs.look()
        assert capsys.readouterr().err == "api       | second\n"


def test_a_long_file_is_moved_and_its_writer_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(child_logs, "MAX_BYTES", 10)
    logs = ChildLogs(tmp_path, echo=True)
    with logs.path("api").open("a") as file:
        file.write("a line that is long\n")
        file.flush()
        logs.look()
        file.write("next\n")
        file.flush()
        logs.look()
    assert (tmp_path / "api.log").read_text() == "next\n"
    assert (tmp_path / "api.log.1").read_text() == "a line that is long\n"
    assert capsys.readouterr().err == "api       | a line that is long\napi       | next\n"


def test_the_tail_is_of_this_start_alone(tmp_path: Path) -> None:
    path = tmp_path / "api.log"
    assert tail(path) == ""
    path.write_text("old\n")
    begin = path.stat().st_size
    path.write_text("old\n" + "".join(f"{number}\n" for number in range(20)))
    assert tail(path, lines=3, start=begin) == "17\n18\n19"
    assert "old" not in tail(path, lines=100, start=begin)
