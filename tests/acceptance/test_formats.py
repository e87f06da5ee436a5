"""Files of every format, good ones and bad ones together, as an operator drops them in."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import office
from tests.pack import Pack
from tests.running import Running, running, until
from tests.stub_parser import SETTING

GOOD = {
    "documents/returns.docx": office.letter("Returns", "Paint goes back within thirty days."),
    "documents/đơn hàng.docx": office.letter("Đơn hàng", "Đơn hàng được giao trong ba ngày."),
    "documents/opening.pptx": office.slides(
        ("Opening hours", "The shop opens at seven."), ("B", "c")
    ),
    "documents/stock.xlsx": office.sheet([["Item", "Shelf"], ["Turpentine", "Q 17"]], "Stock"),
    "documents/cities.csv": "city;shop\nSão Tomé;Rua da Ponte\n".encode(),
    "documents/latin.csv": "name,prize\nkayak,4000 points\n".encode("utf-16"),
    "documents/help.html": b"<h1>Parking</h1><p>Parking costs nothing on <b>Sun</b>days.</p>",
    "documents/old.htm": '<meta charset="windows-1252"><p>O café fecha às nove.</p>'.encode(
        "cp1252"
    ),
    "documents/rules.pdf": office.pdf(["Vouchers end after ninety days."]),
    "documents/long.pdf": office.pdf([f"Paragraph {n} is about bolts." for n in range(30)]),
    "documents/unfinished.pdf": office.pdf(["The lift is in the west wing."])[:-6],
    "documents/notes.txt": b"x" * 5000 + "\nThe lighthouse keeper is Đặng.".encode(),
    "documents/plain.md": b"# Ladders\n\nLadders are lent for a weekend.\n",
    "documents/page.mdx": b"import X from 'x'\n\n# Keys\n\n<X>Spare keys are at the gate.</X>\n",
}
BAD = {
    "documents/locked.pdf": (office.pdf(["Secret"], password="x"), "encrypted"),
    "documents/locked.xlsx": (office.encrypted(office.sheet([["Secret"]])), "encrypted"),
    "documents/scan.pdf": (office.pdf([None, None]), "no_text"),
    "documents/empty.docx": (b"", "empty"),
    "documents/bomb.docx": (office.bomb(office.letter("A"), 400_000_000), "too_large"),
    "documents/renamed.pptx": (office.letter("Not a show"), "unreadable"),
}
FOUND_BY = {
    "documents/returns.docx": "How long can paint be returned?",
    "documents/đơn hàng.docx": "Đơn hàng được giao khi nào?",
    "documents/opening.pptx": "When does the shop open?",
    "documents/stock.xlsx": "On which shelf is turpentine?",
    "documents/cities.csv": "Shop in São Tomé",
    "documents/latin.csv": "How many points is a kayak?",
    "documents/help.html": "Parking on Sundays",
    "documents/old.htm": "A que horas fecha o café?",
    "documents/rules.pdf": "When do vouchers end?",
    "documents/long.pdf": "Paragraph about bolts",
    "documents/unfinished.pdf": "Where is the lift?",
    "documents/notes.txt": "Who is the lighthouse keeper?",
    "documents/plain.md": "For how long are ladders lent?",
    "documents/page.mdx": "Where are spare keys?",
}


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory, small_pack: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("formats")
    shutil.copytree(small_pack, folder / "content")
    settings = {
        "LASTRO_LEASE_S": "3",
        "LASTRO_SWEEP_S": "1",
        "LASTRO_PARSERS": SETTING,
        "LASTRO_PARSE_TIMEOUT_S": "20",
        "PYTHONPATH": str(Path(__file__).parents[2]),  # of the stub parser
    }
    with running(folder / "home", folder / "content", settings) as found:
        yield found


@pytest.fixture
def pack(instance: Running, small_pack: Path) -> Pack:
    """The folder as it was at first, and so is the index."""
    root = Path(instance.environment["LASTRO_CONTENT_DIR"])
    shutil.rmtree(root)
    shutil.copytree(small_pack, root)
    made = Pack(root, instance)
    made.ingest("--force")
    return made


def test_twenty_files_of_which_six_are_bad(pack: Pack) -> None:
    for path, data in GOOD.items():
        pack.write(path, data)
    for path, (data, _) in BAD.items():
        pack.write(path, data)
    told = pack.ingest(status="partial")
    assert (told["counts"]["added"], told["counts"]["failed"]) == (14, 6)
    assert {one["path"]: one["code"] for one in told["failures"]} == {
        path: code for path, (_, code) in BAD.items()
    }
    for path, question in FOUND_BY.items():
        assert pack.search(question)[0]["chunk"].rpartition("#")[0] == path


def test_the_trail_leads_to_the_parser(pack: Pack, instance: Running) -> None:
    for path in ("documents/rules.pdf", "documents/stock.xlsx", "documents/plain.md"):
        pack.write(path, GOOD[path])
    pack.ingest()
    parsers = dict(
        instance.rows(
            "SELECT d.path, v.parser FROM rag.document_versions v"
            " JOIN rag.documents d ON d.id = v.document_id WHERE v.live AND v.parser <> 'markdown'"
        )
    )
    assert parsers == {"documents/rules.pdf": "pdfium", "documents/stock.xlsx": "docling"}


def test_a_document_of_which_a_page_was_lost_is_partial(pack: Pack) -> None:
    path = "documents/half.pdf"
    pack.write(path, office.pdf(["The pier is closed in May.", None, "It opens in June."]))
    told = pack.ingest()
    assert told["counts"]["added"] == 1
    [entry] = told["partial"]
    assert entry["path"] == path
    assert entry["reason"].startswith("page 2: ")
    assert path in pack.paths("When is the pier closed?")
    pack.write(path, office.pdf(["The pier is never closed."]))
    assert pack.ingest()["partial"] == []


def test_a_file_that_hangs_costs_itself_alone(pack: Pack, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    pack.write("documents/a-hang.stub", f"hang {mark}")
    pack.write("documents/b-good.docx", GOOD["documents/returns.docx"])
    told = pack.ingest(status="partial")
    assert [(one["path"], one["code"]) for one in told["failures"]] == [
        ("documents/a-hang.stub", "timeout")
    ]
    assert "documents/b-good.docx" in pack.paths("How long can paint be returned?")
    assert not Path(f"/proc/{mark.read_text()}").exists()


def test_a_file_that_kills_its_parser_is_left_alone_until_it_changes(pack: Pack) -> None:
    path = "documents/die.stub"
    pack.write(path, "die")
    pack.write("documents/good.stub", "The ferry leaves at dawn.")
    told = pack.ingest(status="partial")
    assert [(one["path"], one["code"]) for one in told["failures"]] == [(path, "quarantined")]
    assert told["counts"]["added"] == 1
    told = pack.ingest()
    assert told["counts"]["total"] == 0
    assert [one["path"] for one in told["warnings"] if "ended its parser" in one["reason"]] == [
        path
    ]
    pack.write(path, "The ferry is repaired at noon.")
    assert pack.ingest()["counts"]["added"] == 1
    assert path in pack.paths("When is the ferry repaired?")


def test_a_killed_parser_process_costs_no_file(pack: Pack, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    pack.write("documents/slow.stub", f"wait {mark}")
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(pack.ingest)
        first = int(until(lambda: mark.exists() and mark.read_text(), what="the file is read"))
        mark.unlink()
        os.kill(first, signal.SIGKILL)
        second = int(until(lambda: mark.exists() and mark.read_text(), what="it is read again"))
        mark.unlink()
        mark.with_suffix(".go").touch()
        assert run.result()["counts"]["added"] == 1
    assert first != second


def test_odd_names_are_files_like_others(pack: Pack) -> None:
    names = (
        "a b.docx",
        "100%.docx",
        "#1.docx",
        "naïve – copy (2).DOCX",
        "it's.docx",
        "--json.docx",
    )
    for name in names:
        pack.write(f"documents/{name}", office.letter(name, f"The odd name is {name}."))
    told = pack.ingest()
    assert told["counts"]["added"] == len(names)
    assert {f"documents/{name}" for name in names} <= pack.paths("The odd name")
