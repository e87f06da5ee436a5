"""Office files, pages and PDFs, each as a real library makes it, become markdown or a reason."""

from __future__ import annotations

import contextlib
import datetime
import io
import resource
import subprocess
import sys

import openpyxl
import pytest
from docx.document import Document as WordDocument

from pipeline.backends.parsers.registry import configured
from pipeline.errors import (
    EmptyDocumentError,
    EncryptedError,
    FileTooLargeError,
    NoTextError,
    SettingsError,
    UnreadableError,
    UnsupportedFormatError,
)
from pipeline.settings import Settings
from pipeline.types import Document, Track
from tests import office

VIETNAMESE = "Đặng Thị Ngọc uống cà phê ở café"


def parsed(path: str, data: bytes, **settings: object) -> Document:
    parser = configured(Settings.model_validate(settings)).for_path(path)
    return parser.parse(data, path, Track.DOCUMENT)


# --- Word


def test_a_word_file_keeps_headings_lists_and_tables() -> None:
    def build(document: WordDocument) -> None:
        document.add_heading("Returns", 1)
        document.add_paragraph(VIETNAMESE)
        document.add_paragraph("paint", style="List Bullet")
        table = document.add_table(2, 2)
        for row, cells in zip(table.rows, (("Item", "Days"), ("Paint", "30")), strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text

    made = parsed("documents/returns.docx", office.word(build))
    assert (made.title, made.parser, made.lost) == ("Returns", "docling", ())
    assert VIETNAMESE in made.text
    assert "- paint" in made.text
    assert [cell.strip() for cell in made.text.splitlines()[-1].strip("|").split("|")] == [
        "Paint",
        "30",
    ]


def test_looks_never_split_a_word() -> None:
    def build(document: WordDocument) -> None:
        paragraph = document.add_paragraph()
        paragraph.add_run("war").bold = True
        paragraph.add_run("ran").italic = True
        paragraph.add_run("ty_card")

    assert parsed("a.docx", office.word(build)).text.strip() == "warranty_card"
    page = "<p>war<b>ran</b>t<i>y</i> and <span>H<sub>2</sub>O</span></p>"
    assert parsed("a.html", page.encode()).text.strip() == "warranty and H2O"


# --- sheets


def test_each_sheet_is_a_section_with_its_table() -> None:
    day = datetime.datetime(2026, 5, 24)
    data = office.workbook(
        {
            "Prices": [["Item", "Price", "From"], ["Paint", 12.5, day]],
            "Shops": [["City"], [VIETNAMESE]],
        }
    )
    text = parsed("prices.xlsx", data).text
    assert text.index("## Prices") < text.index("Paint") < text.index("## Shops")
    assert VIETNAMESE in text
    assert "2026-05-24 " in text
    assert "00:00" not in text


@pytest.mark.parametrize("parsers", ["", "xlsx=markitdown"])
def test_blank_cells_and_columns_say_nothing(parsers: str) -> None:
    rows = [
        ["Price list of the year"],
        [],
        ["Item", None, "Price"],
        ["Paint", None, 12],
        ["Brush", None, None],
    ]
    text = parsed("a.xlsx", office.sheet(rows), parsers=parsers).text
    assert "NaN" not in text
    assert "Unnamed" not in text
    [row] = [line for line in text.splitlines() if "Paint" in line]
    assert "12" in row, "one table, though a column is blank"


def test_a_huge_used_range_costs_nothing() -> None:
    book = openpyxl.Workbook()
    for number in range(20):
        book.active.append([f"item {number}", None, number])
    book.active["A1048576"].font = openpyxl.styles.Font(bold=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = parsed("a.xlsx", office.saved(book)).text
    assert len([line for line in text.splitlines() if "item" in line]) == 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kilobytes"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("comma", [",", ";"])
def test_a_late_accent_in_a_csv_is_kept(encoding: str, comma: str) -> None:
    rows = [f"item {number:04}{comma}{number}" for number in range(500)]
    data = "\n".join([f"name{comma}count", *rows, f"{VIETNAMESE}{comma}7"]).encode(encoding)
    assert len("\n".join(rows)) > 5000
    made = parsed("a.csv", data)
    last = made.text.splitlines()[-1]
    assert [cell.strip() for cell in last.strip("|").split("|")] == [VIETNAMESE, "7"]


@pytest.mark.parametrize("path", ["a.csv", "a.txt", "a.md", "a.html"])
def test_another_charset_is_refused_by_name(path: str) -> None:
    with pytest.raises(UnreadableError, match="Save it as UTF-8"):
        parsed(path, b"x" * 5000 + "\u0110\u1eb7ng caf\xe9".encode("windows-1258", "replace"))


# --- slides


def test_each_slide_is_a_section() -> None:
    text = parsed("a.pptx", office.slides(("Plan", "First step"), ("Cost", VIETNAMESE))).text
    assert text.index("# Plan") < text.index("First step") < text.index("# Cost")
    assert VIETNAMESE in text


def test_a_picture_that_is_missing_costs_no_slide() -> None:
    whole = office.slides(*((f"Slide {n}", f"Text {n}") for n in range(3)), picture_on=1)

    def without_relation(name: str, content: bytes) -> bytes:
        return content.replace(b'r:embed="rId2"', b'r:embed="rId99"')

    broken = office.rewritten(whole, without_relation)
    assert broken != whole
    made = parsed("a.pptx", broken)
    assert all(f"Text {n}" in made.text for n in range(3))
    assert made.warnings


# --- pages


def test_a_page_is_its_text_without_its_menus_and_scripts() -> None:
    page = f"""<html><head><title>Help</title><style>p {{}}</style></head><body>
        <nav>Home Shop</nav><p>{VIETNAMESE}, see <a href="https://a.example/x">the
        rules</a>.</p><table><tr><th>Item</th></tr><tr><td>Paint</td></tr></table>
        <script>track()</script></body></html>"""
    made = parsed("a.html", page.encode())
    assert made.title == "Help"
    assert VIETNAMESE in made.text
    assert "[the rules](https://a.example/x)." in made.text
    assert "| Paint" in made.text
    assert not {"Home", "track"} & set(made.text.replace("(", " ").split())


def test_a_page_is_read_by_the_charset_that_it_declares() -> None:
    page = '<meta charset="windows-1252"><p>Olá, coração</p>'
    assert "Olá, coração" in parsed("a.htm", page.encode("windows-1252")).text


def test_deeply_nested_tables_end_soon() -> None:
    depth = 200
    page = "<table><tr><td>" * depth + "word " * 40_000 + "</td></tr></table>" * depth
    with contextlib.suppress(UnreadableError):
        assert "word" in parsed("a.html", page.encode()).text


# --- PDF


def test_a_pdf_is_its_text_in_order() -> None:
    made = parsed("documents/rules.pdf", office.pdf(["Points are valid.", "Ask the shop."]))
    assert made.text.split("\n\n") == ["Points are valid.", "Ask the shop."]
    assert (made.title, made.parser, made.lost) == ("rules", "pdfium", ())


def test_a_pdf_of_pictures_wants_ocr() -> None:
    with pytest.raises(NoTextError, match="OCR"):
        parsed("a.pdf", office.pdf([None, None]))


def test_a_page_without_text_is_named_as_lost() -> None:
    made = parsed("a.pdf", office.pdf(["First.", None, "Third."]))
    assert [one.partition(":")[0] for one in made.lost] == ["page 2"]
    assert "Third." in made.text


def test_a_cut_pdf_is_refused_and_one_without_its_last_line_is_read() -> None:
    whole = office.pdf(["The quick brown fox."] * 30)
    with pytest.raises(UnreadableError, match="cut off or damaged"):
        parsed("a.pdf", whole[:400])
    end = whole.rindex(b"%%EOF")
    assert "quick brown" in parsed("a.pdf", whole[:end]).text


def test_pages_have_a_limit() -> None:
    data = office.pdf(["Text"] * 6)
    assert parsed("a.pdf", data, parse_max_pages=6)
    with pytest.raises(FileTooLargeError, match="LASTRO_PARSE_MAX_PAGES"):
        parsed("a.pdf", data, parse_max_pages=5)


# --- what can't be read


@pytest.mark.parametrize("path", ["a.pdf", "a.docx", "a.xlsx", "a.csv", "a.html", "a.pptx"])
def test_no_bytes_are_an_empty_document(path: str) -> None:
    with pytest.raises(EmptyDocumentError, match=path):
        parsed(path, b"")


def test_a_password_is_named() -> None:
    with pytest.raises(EncryptedError, match="password"):
        parsed("a.pdf", office.pdf(["Secret"], password="1234"))
    with pytest.raises(EncryptedError, match="password"):
        parsed("a.docx", office.encrypted(office.letter("Secret")))


def test_a_wrong_name_is_told_with_the_right_one() -> None:
    with pytest.raises(UnreadableError, match=r"it is a \.pptx file"):
        parsed("a.docx", office.slides(("Plan", "Step")))
    with pytest.raises(UnreadableError, match=r"it is a \.pdf file"):
        parsed("a.html", office.pdf(["Text"]))
    for path in ("a.docx", "a.pdf"):
        with pytest.raises(UnreadableError, match="not what its name says"):
            parsed(path, b"just text")
    with pytest.raises(UnsupportedFormatError, match="save it as docx"):
        parsed("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    with pytest.raises(UnsupportedFormatError, match="archive"):
        parsed("a.docx", office.rewritten(office.letter("A"), lambda n, c: None if "/" in n else c))


def test_an_archive_is_measured_by_inflating_it() -> None:
    small = office.letter("Small")
    for path, data in (
        ("a.docx", office.bomb(small, 400_000_000)),
        ("a.csv", office.bomb(small, 400_000_000)),
    ):
        assert len(data) < 500_000
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(FileTooLargeError, match="LASTRO_PARSE_MAX_INFLATED_BYTES"):
            parsed(path, data)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000, "kilobytes"


@pytest.mark.parametrize("path", ["a.docx", "a.xlsx", "a.pptx"])
def test_a_cut_or_damaged_archive_is_refused(path: str) -> None:
    whole = {
        "a.docx": office.letter("A", "text"),
        "a.xlsx": office.sheet([["a", "b"]]),
        "a.pptx": office.slides(("A", "b")),
    }[path]
    with pytest.raises(UnreadableError, match="cut off or damaged"):
        parsed(path, whole[: len(whole) // 2])
    hurt = bytearray(whole)
    hurt[400:800] = bytes(400)
    with pytest.raises(UnreadableError, match=r"damaged|can't be read"):
        parsed(path, bytes(hurt))


def test_a_file_without_words_is_no_document() -> None:
    for path, data in (
        ("a.docx", office.word(lambda document: document.add_paragraph(" "))),
        ("a.pdf", office.pdf([""])),
        ("a.html", b"<html><body><img src='a.png'></body></html>"),
    ):
        with pytest.raises(NoTextError, match=path):
            parsed(path, data)


# --- which parser


def test_the_second_choice_reads_what_the_first_fails_at(monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline.backends.parsers.converters import docling

    def fails(*_: object) -> None:
        raise ValueError("odd shape")

    monkeypatch.setattr(docling, "convert", fails)
    made = parsed("a.docx", office.letter("Returns", "Within 30 days."))
    assert made.parser == "markitdown"
    assert "30 days" in made.text
    assert "docling failed at it (ValueError: odd shape)" in made.warnings


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.docx", office.letter("Returns", "Within 30 days.")),
        ("a.pptx", office.slides(("Returns", "Within 30 days."))),
        ("a.xlsx", office.sheet([["Returns"], ["Within 30 days."]])),
        ("a.csv", b"Returns,x\nWithin 30 days.,1\n"),
        ("a.html", b"<h1>Returns</h1><p>Within 30 days.</p>"),
    ],
)
def test_markitdown_may_be_the_first_choice(path: str, data: bytes) -> None:
    made = parsed(path, data, parsers=f"{path[2:]}=markitdown")
    assert made.parser == "markitdown"
    assert "Within 30 days." in made.text


def test_a_missing_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['pypdfium2'] = None\n"
        "from pipeline.backends.parsers.registry import configured\n"
        "from pipeline.settings import Settings\n"
        "configured(Settings()).for_path('a.pdf').parse(b'%PDF-1.7 ...', 'a.pdf', 'document')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingLibraryError: The library pypdfium2 is not installed" in done.stderr
    assert "pip install 'lastro[documents]'" in done.stderr


def test_parsers_are_chosen_by_setting() -> None:
    chosen = configured(Settings(parsers="csv=off, .ODT = tests.unit.test_office_files:Shouting"))
    assert ".csv" not in chosen.supported
    assert chosen.for_path("a.odt").parse(b"a", "a.odt", Track.DOCUMENT).text == "A"
    for wrong in ("docx", "docx=", "=text", "docx=dockling", "docx=docling+x"):
        with pytest.raises(SettingsError, match="LASTRO_PARSERS is a list like"):
            configured(Settings(parsers=wrong))


class Shouting:
    name = "shouting"

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        return Document(path, track, path, io.BytesIO(data).read().decode().upper())
