"""Readers of file formats: what a reader of the file sees, and one line where there is nothing."""

from collections.abc import Callable

import pytest

from app.library.formats.parsed import Laid, Unreadable, lay_out
from app.library.formats.read import BIGGEST, read_document
from tests.library.files import PAGE, pdf, with_body, word

BODY = (
    "A lease is a right to execute a run for a limited time, and it",
    "is kept by renewal. The owner renews it at a third of its term,",
    "so that two hints may be lost.",
)


def laid(data: bytes, name: str) -> Laid:
    return lay_out(read_document(data, name).blocks)


def test_a_page_becomes_its_main_text_without_menus_and_scripts() -> None:
    parsed = read_document(PAGE.encode(), "a.html")
    assert (parsed.title, parsed.date) == ("How leases work", "2024-05-06")
    assert lay_out(parsed.blocks).text.split("\n\n") == [
        "How leases work",
        (
            "A lease is a time-limited right to execute a run. It is renewed.\n"
            "first point\nsecond point\nName | Default\nLEASE | 30"
        ),
        "def f():\n    return 1",
    ]


def test_a_page_of_links_alone_keeps_them() -> None:
    items = "".join(f"<li><a href='/{n}'>Entry number {n}</a></li>" for n in range(9))
    assert "Entry number 8" in laid(f"<html><body><ul>{items}</ul></body>".encode(), "a.html").text


@pytest.mark.parametrize("tags", ["<div>", "<b><div>", "<span>", "<table><tr><td>"])
def test_deep_nesting_costs_no_more_than_its_length(tags: str) -> None:
    page = f"<html><body>{tags * 100_000}<p>deep inside</p>"
    assert "deep inside" in laid(page.encode(), "deep.html").text


def test_markdown_becomes_plain_text_with_its_headings() -> None:
    text = (
        '---\ntitle: "In front"\ndate: 2024-01-02\n---\n# Head\n\nSome *bold* `code`,\n'
        "[a link](http://x) on two lines.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n"
        "```py\nx = 1\n```\n<details>hidden</details>\n"
    )
    parsed = read_document(text.encode(), "a.md")
    assert (parsed.title, parsed.date) == ("In front", "2024-01-02")
    assert [block.level for block in parsed.blocks if block.level] == [1]
    shown = lay_out(parsed.blocks).text
    assert shown == (
        "Head\n\nSome bold code, a link on two lines.\na | b\n1 | 2\none\ntwo\n\nx = 1\n\nhidden"
    )


def test_the_first_heading_is_the_title_of_markdown_without_one() -> None:
    assert read_document(b"Intro.\n\n## Second\n\n# First\n", "a.md").title == "First"
    assert read_document(b"No heading at all.\n", "notes.md").title == "notes"


def test_plain_text_joins_the_lines_that_an_editor_broke() -> None:
    text = "Title\n=====\n\n" + "\n".join(BODY) + "\n\n- item\n- other\n"
    parsed = read_document(text.encode(), "a.rst")
    assert parsed.title == "Title"
    assert [b.text for b in parsed.blocks] == ["Title", " ".join(BODY), "- item\n- other"]


def test_lines_of_chinese_prose_join_without_a_space() -> None:
    lines = "研究服务在后台运行，用户可以随时离开，也可以随时再回来看结果，什么也不会\n丢失。"
    assert laid(lines.encode(), "a.txt").text == lines.replace("\n", "")


def test_a_pdf_becomes_paragraphs_under_headings() -> None:
    parsed = read_document(pdf([["Leases", *BODY]]), "a.pdf")
    assert parsed.title == "Leases"
    assert [block.text for block in parsed.blocks] == ["Leases", " ".join(BODY)]


def test_running_heads_of_a_pdf_are_left_out() -> None:
    chapters = ("leases", "epochs", "slots", "answers", "reports")
    pages = [
        [f"Manual, page {n}", *(f"On {word}: {line}" for line in BODY), f"Foot {n}"]
        for n, word in enumerate(chapters)
    ]
    text = laid(pdf(pages), "a.pdf").text
    assert "Manual, page" not in text
    assert "Foot" not in text
    assert all(f"On {word}: A lease" in text for word in chapters)


def test_a_word_file_keeps_headings_and_rows() -> None:
    data = word([("Leases", 1), ("A lease is a right.", 0), ("Renewal", 2), ("It is kept.", 0)])
    parsed = read_document(data, "a.docx")
    assert parsed.title == "Leases"
    assert [(b.text, b.level) for b in parsed.blocks] == [
        *(("Leases", 1), ("A lease is a right.", 0), ("Renewal", 2), ("It is kept.", 0)),
        *(("name | default", 0), ("LEASE_SECONDS | 30", 0)),
    ]


def test_the_content_says_what_a_file_is_not_its_suffix() -> None:
    assert laid(pdf([BODY]), "a.txt").text == " ".join(BODY)
    assert laid(PAGE.encode(), "a.txt").text.startswith("How leases work")
    assert laid(word([("Leases", 1)]), "a.md").text.startswith("Leases")


def billion_laughs() -> bytes:
    lines = ['<!ENTITY a0 "aaaaaaaaaa">']
    lines += [f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)]
    return f'<?xml version="1.0"?><!DOCTYPE l [{"".join(lines)}]><l>&a11;</l>'.encode()


NEST = b'<?xml version="1.0"?><a>' + b"<b>" * 50_000 + b"</b>" * 50_000 + b"</a>"


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("a.pdf", lambda: b"hello", "not a PDF: it does not begin with %PDF-"),
        ("a.pdf", PAGE.encode, "not a PDF: it does not begin with %PDF-"),
        ("a.pdf", lambda: b"%PDF-1.4 rubbish", "not a readable PDF: its structure is damaged"),
        ("a.pdf", lambda: pdf([BODY], encrypted=True), "the PDF needs a password"),
        ("a.pdf", lambda: pdf([[]]), "the PDF has no text in it: it may be a scan"),
        ("a.docx", lambda: b"PK\x03\x04 rubbish", "not a DOCX: it is not a Word archive"),
        (
            "a.docx",
            lambda: with_body(word([]), b" " * 250_000_000),
            "the DOCX unpacks to more than 200 MB",
        ),
        ("a.docx", lambda: with_body(word([]), billion_laughs()), "not a readable DOCX"),
        ("a.docx", lambda: with_body(word([]), NEST), "not a readable DOCX"),
        ("a.md", lambda: b"", "the file is empty"),
        ("a.txt", lambda: b"\x00" * 20, "the file is empty"),
        ("a.txt", lambda: bytes(range(32)) * 99, "neither text nor a format that can be read"),
        ("a.html", lambda: b"<html><body><script>x</script>", "no text in it"),
        ("a.txt", lambda: b"a" * (BIGGEST + 2**20), "33 MiB, over the limit of 32 MiB"),
    ],
)
def test_what_cannot_be_read_says_why_in_one_line(
    name: str, make: Callable[[], bytes], reason: str
) -> None:
    with pytest.raises(Unreadable, match=f"^{reason.split(':', maxsplit=1)[0]}") as caught:
        laid(make(), name)
    assert caught.value.reason.startswith(reason)
    assert "\n" not in caught.value.reason


def test_f05_f48_nul_and_lone_surrogates_are_replaced_and_escapes_survive() -> None:
    lone = "\ud83d".encode("utf-8", "surrogatepass")
    text = laid(b"a\x00b \\u0000 " + lone + b" and so on" * 20, "a.txt").text
    assert "\x00" not in text
    assert "\\u0000" in text
    assert text.encode()  # no lone surrogate
