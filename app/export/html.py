"""A report as one HTML page that needs nothing else: no script, no request to anywhere.

Section text is untrusted: Markdown without raw HTML, then a sanitiser with a short list.
Each `[3]` becomes a link to its source at the end of the page.
"""

import html
import re
from typing import Any, Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.export.markdown import link
from app.export.report import Report
from app.export.words import Words, direction, words

CONTENT_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

_NUMBER: Final = re.compile(r"\[(\d{1,6})\]")
_TAGS: Final = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_STYLE: Final = """
:root { color-scheme: light dark; --fg: #1c1e21; --bg: #fff; --soft: #666; --line: #ddd; }
@media (prefers-color-scheme: dark) {
  :root { --fg: #e6e6e6; --bg: #16181b; --soft: #a0a0a0; --line: #3a3d42; } }
body { margin: 0 auto; max-width: 44rem; padding: 2rem 1rem; color: var(--fg);
  background: var(--bg); font: 1rem/1.65 system-ui, sans-serif; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; }
a { color: inherit; }
a.cite { color: var(--soft); text-decoration: none; font-size: .85em; }
.note { border-inline-start: 3px solid var(--line); padding-inline-start: 1rem; }
.sources { list-style: none; padding: 0; font-size: .9rem; }
pre { overflow-x: auto; } table { border-collapse: collapse; }
td, th { border: 1px solid var(--line); padding: .3rem .6rem; text-align: start; }
:target { outline: 2px solid var(--soft); outline-offset: 4px; }
@media print { a.cite { color: inherit; } body { max-width: none; } }
"""


def to_html(report: Report) -> str:
    language = str(report["language"])
    names, title = words(language), html.escape(report["title"])
    numbers = {int(source["number"]) for source in report["sources"]}
    parts = [f"<h1>{title}</h1>"]
    if report["partial"]:
        parts.append(f'<p class="note">{html.escape(names.partial)}</p>')
    for section in report["sections"]:
        parts.append(f"<h2>{html.escape(section['title'])}</h2>")
        parts.append(_section(str(section["markdown"]), numbers))
    if report["sources"]:
        items = "\n".join(_source(source, names) for source in report["sources"])
        parts.append(f'<h2>{html.escape(names.sources)}</h2>\n<ul class="sources">\n{items}\n</ul>')
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="{html.escape(language)}" dir="{direction(language)}">\n'
        '<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _section(markdown: str, numbers: set[int]) -> str:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.children and token.type == "inline":
            token.children = [t for child in token.children for t in _cited(child, numbers)]
    rendered = parser.renderer.render(tokens, parser.options, {})
    return nh3.clean(
        rendered,
        tags=_TAGS,
        attributes={"a": {"href", "title", "class"}, "ol": {"start"}},
        url_schemes={"http", "https"},
    )


def _cited(token: Token, numbers: set[int]) -> list[Token]:
    """The token with each `[n]` of a known source turned into a link."""
    if token.type != "text":
        return [token]
    out: list[Token] = []
    place = 0
    for match in _NUMBER.finditer(token.content):
        if int(match[1]) not in numbers:
            continue
        out.append(_text(token.content[place : match.start()]))
        opening = Token("link_open", "a", 1)
        opening.attrs = {"href": f"#source-{match[1]}", "class": "cite"}
        out += [opening, _text(match[0]), Token("link_close", "a", -1)]
        place = match.end()
    return [*out, _text(token.content[place:])]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _source(source: dict[str, Any], names: Words) -> str:
    url, title = link(source["url"]), html.escape(source["title"])
    number = int(source["number"])
    if url:
        shown = f'<a href="{html.escape(url)}" rel="noopener noreferrer">{title}</a>'
    else:
        name = html.escape(str(source["url"]).removeprefix("document:"))
        shown = f"{title} ({html.escape(names.document)}: {name})"
    date = f", {html.escape(str(source['date']))}" if source.get("date") else ""
    return f'<li id="source-{number}">[{number}] {shown}{date}</li>'
