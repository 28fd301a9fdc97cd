"""Exports: what a report looks like as Markdown and as a page, with hostile text in it."""

from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from app.export.html import to_html
from app.export.markdown import to_markdown
from app.export.report import pick

HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) ![i](https://evil.example/i.png)"


def _source(number: int, n: int, url: str, title: str, date: str | None = None) -> dict[str, Any]:
    return {"number": number, "n": n, "url": url, "title": title, "date": date}


def _report(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "version": 2,
        "title": "Bees & honey",
        "language": "en",
        "partial": False,
        "sections": [
            {
                "version": 2,
                "index": 0,
                "title": "Summary",
                "markdown": "A colony needs **15 kg** [1]. It swarms in May [1][2]. No such [9].",
                "citations": [],
                "sentences": [],
            },
            {
                "version": 2,
                "index": 1,
                "title": "Feeding <in> winter",
                "markdown": "| a | b |\n|---|---|\n| 1 | 2 |\n\n`code [1]`",
                "citations": [],
                "sentences": [],
            },
        ],
        "sources": [
            _source(1, 3, "https://a.example/x y?<q>", "A *star*"),
            _source(2, 1, "document:garden.md", "Garden", "2025-04-01"),
        ],
    }
    return {**made, **changes}


def test_markdown() -> None:
    text = to_markdown(_report())
    assert text.startswith("# Bees \\& honey\n\n## Summary\n\nA colony needs **15 kg** [1].")
    assert "\n\n## Feeding \\<in\\> winter\n\n| a | b |" in text
    assert "- [1] A \\*star\\*. <https://a.example/x%20y?%3Cq%3E>\n" in text
    assert text.endswith("- [2] Garden. document: garden.md, 2025-04-01\n")


def test_a_page_links_numbers_to_their_sources() -> None:
    page = LexborHTMLParser(to_html(_report()))
    links = [node.attributes["href"] for node in page.css("a.cite")]
    assert links == ["#source-1", "#source-1", "#source-2"]
    for target in set(links):
        assert target is not None
        assert page.css_first(target) is not None
    outside = [n.attributes["href"] for n in page.css(".sources a")]
    assert outside == ["https://a.example/x%20y?%3Cq%3E"]
    assert page.css_first("table td") is not None
    assert [node.text() for node in page.css("h2")] == [
        "Summary",
        "Feeding <in> winter",
        "Sources",
    ]


def test_hostile_text_stays_text() -> None:
    section = {**_report()["sections"][0], "title": HOSTILE, "markdown": HOSTILE}
    sources = [_source(1, 1, "javascript:alert(1)", HOSTILE, HOSTILE)]
    report = _report(title=HOSTILE, sections=[section], sources=sources, language='e"n')
    page = LexborHTMLParser(to_html(report))
    assert page.css("script, img, iframe, link") == []
    assert [node.attributes.get("href") for node in page.css("a")] == []
    assert [node.text() for node in page.css("h1")] == [HOSTILE]
    for node in page.css("*"):
        assert not [name for name in node.attributes if name.startswith("on")]


@pytest.mark.parametrize(
    ("language", "word", "direction"),
    [
        ("zh", "来源", "ltr"),
        ("zh-Hant", "来源", "ltr"),
        ("ar", "Sources", "rtl"),
        ("xx", "Sources", "ltr"),
    ],
)
def test_the_words_are_in_the_reports_language(language: str, word: str, direction: str) -> None:
    report = _report(language=language, partial=True)
    assert f"\n## {word}\n" in to_markdown(report)
    assert f'<html lang="{language}" dir="{direction}">' in to_html(report)
    assert "\n> " in to_markdown(report)


def test_a_version_is_picked_by_number_or_the_newest() -> None:
    sections = [
        {**item, "kind": "step", "step": None, "raw": "x"} for item in _report()["sections"]
    ]
    stored = {**_report(), "sections": sections}
    state = {"reports": {"2": stored, "10": {**stored, "version": 10}}}
    newest, second = pick(state, None), pick(state, 2)
    assert newest is not None
    assert second is not None
    assert (newest["version"], second["version"]) == (10, 2)
    assert set(second["sections"][0]) == {
        *("version", "index", "title", "markdown", "citations", "sentences")
    }
    assert pick(state, 3) is None
    assert pick({}, None) is None
