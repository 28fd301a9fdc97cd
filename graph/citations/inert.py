"""Nothing a model writes may act in the reader's page: links, images and HTML lose their force.

Every change leaves a `NOTE` in its place, so that its sentence is reported as repaired.
"""

import re
from typing import Final

from graph.citations.marks import CODE_SPAN, HELD, NOTE, PRIVATE, outside_code
from graph.text.clean import scrub

_LINK: Final = re.compile(
    r"(!?)\[((?:[^\[\]\n]|\[[^\[\]\n]{0,80}\]){0,400})\]"
    r"\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
)
_DEFINITION: Final = re.compile(r"(?m)^\s{0,3}\[[^\]\n]{1,80}\]:[^\S\n]*\S+.*\n?")
_ADDRESS: Final = re.compile(
    r"<?\b(?:https?://|www\.)[^\s<>\"'`\[\]{}|\\^\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+>?",
    re.IGNORECASE,
)
_SCRIPT: Final = re.compile(
    r"(?is)<(script|style|iframe|svg|object)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)"
)
_TAG: Final = re.compile(r"</?([a-zA-Z][\w-]*)(?:\s[^<>]*)?/?>")
_MARKED: Final = re.compile(r"\[?[Ss]\s?\d{1,6}\]?")
_DIGITS: Final = re.compile(r"\[?\^?\d*\]?")
_STRAY: Final = re.compile("`+")  # would pair with another once sentences are taken out
_LESS: Final = re.compile(r"<(?=[a-zA-Z/!?])")
_NUMBERED: Final = re.compile(r"(?<!\\)\[\^?\d{1,3}(?:\s*[,，–-]\s*\d{1,3})*\](?!\()")
_THOUGHT: Final = re.compile(r"(?is)(?<!`)<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)")
_THOUGHT_END: Final = re.compile(r"(?i)(?<!`)</think(?:ing)?>")
_CONTROL: Final = re.compile(r"<\|[^|<>\n]{1,40}\|>")
_LINE_ENDS: Final = re.compile("\r\n?|[\u2028\u2029\u0085\x0b\x0c\x1c-\x1e]")
_HTML_NAMES: Final = """
    a abbr address area article aside audio b base bdi bdo blockquote body br button canvas
    caption center cite code col colgroup data datalist dd del details dfn dialog div dl dt
    em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6
    head header hr html i iframe img input ins kbd label legend li link main map mark math
    menu meta meter nav noscript object ol optgroup option output p param picture pre
    progress q rp rt ruby s samp script section select slot small source span strike strong
    style sub summary sup svg table tbody td template textarea tfoot th thead time title tr
    track tt u ul var video wbr
"""
_HTML: Final = frozenset(_HTML_NAMES.split())


def readable(raw: str) -> str:
    """Text fit to be worked on: thoughts and control tokens out, one kind of line end."""
    text = _THOUGHT.sub("", scrub(raw))
    tail = list(_THOUGHT_END.finditer(text))  # of a block whose start was cut off
    text = text[tail[-1].end() :] if tail else text
    text = _LINE_ENDS.sub("\n", _CONTROL.sub("", text)).replace("\t", "    ")
    return PRIVATE.sub("", text)


def inert(text: str, literal: str) -> str:
    """Markdown without links, images, HTML and numbers that pose as citations.

    `literal`: the evidence; an address that it holds stays, as code. Inline code is untouched,
    unless it holds a mark: then its backticks only happen to pair.
    """

    def code(match: re.Match[str]) -> str:
        real = match[0] in literal or not HELD.search(match[0])
        return match[0] if real else match[0].replace("`", NOTE)

    text = CODE_SPAN.sub(code, text)
    return outside_code(text, lambda part: _inert(_STRAY.sub(NOTE, part), literal))


def _inert(text: str, literal: str) -> str:
    def address(match: re.Match[str]) -> str:
        url = match[0].strip("<>")
        tail = url[len(url.rstrip(".,;:!?)*_")) :]
        url = url.removesuffix(tail)
        return (f"`{url}`" if url in literal else NOTE) + tail

    def link(match: re.Match[str]) -> str:
        label = match[2].strip()
        if _MARKED.fullmatch(label):
            return f"[{label}]"
        return NOTE if match[1] or _DIGITS.fullmatch(label) else f"{NOTE}{match[2]}"

    def tag(match: re.Match[str]) -> str:
        known = match[1].lower() in _HTML
        return NOTE if known else match[0]

    text = _DEFINITION.sub(NOTE, _SCRIPT.sub(NOTE, text))
    text = _LINK.sub(link, text)
    text = _TAG.sub(tag, _ADDRESS.sub(address, text))
    text = _NUMBERED.sub(NOTE, text)
    text = outside_code(text, lambda part: _LESS.sub(r"\\<", part))
    return re.sub(rf"\(\s*{NOTE}\s*\)", NOTE, text)
