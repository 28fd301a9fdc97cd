"""PDF to blocks: lines of each page joined to paragraphs, running heads left out."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

import pypdfium2 as pdfium

from app.library.formats.parsed import Block, Parsed, Unreadable, clean, one_line

MOST_PAGES: Final = 5000
_DATE: Final = re.compile(r"D:([0-9]{4})([01][0-9])([0-3][0-9])")
_ENDS: Final = re.compile(r"[.!?:;。！？：；…][\"'”’」』)\]）】]*$")
_NUMBERED: Final = re.compile(r"(?:[0-9]+\.)+[0-9]*\s+\S|第.{1,4}[章节]")
_NUMBERS: Final = re.compile(r"[0-9]+")
_PASSWORD_ERROR: Final = 4  # FPDF_ERR_PASSWORD


def parse_pdf(data: bytes, tick: Callable[[], None] = lambda: None) -> Parsed:
    """Calls `tick` after each page. Raises `Unreadable`."""
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code == _PASSWORD_ERROR:
            raise Unreadable("the PDF needs a password") from None
        raise Unreadable("not a readable PDF: its structure is damaged") from None
    try:
        count = len(document)
        if count > MOST_PAGES:
            raise Unreadable(f"the PDF has {count:,} pages, over the limit of {MOST_PAGES:,}")
        pages = [_lines(document, number, tick) for number in range(count)]
        meta = document.get_metadata_dict()
    finally:
        document.close()
    blocks = tuple(_paragraphs(_without_heads(pages)))
    if not blocks:
        raise Unreadable("the PDF has no text in it: it may be a scan")
    date = _DATE.match(meta.get("ModDate") or meta.get("CreationDate") or "")
    title = one_line(clean(meta.get("Title") or ""))
    if len(title) < 3 or title.lower().startswith(("microsoft word", "untitled")):
        title = blocks[0].text if blocks[0].level else ""
    return Parsed(title[:300], blocks, "-".join(date.groups()) if date else None)


def _lines(document: pdfium.PdfDocument, number: int, tick: Callable[[], None]) -> list[str]:
    try:
        page = document[number]
        text = page.get_textpage()
        raw = text.get_text_range()
        text.close()
        page.close()
    except pdfium.PdfiumError:
        return []  # a damaged page; the others still count
    finally:
        tick()
    # pdfium marks a hyphen at a line's end with U+FFFE or U+0002
    raw = raw.replace("\ufffe\r\n", "\u2010\n").replace("\x02\r\n", "\u2010\n")
    return [line.strip() for line in clean(raw.replace("\ufffe", "-")).split("\n")]


def _without_heads(pages: list[list[str]]) -> list[list[str]]:
    """Drops first and last lines that come again on most pages, their numbers aside."""
    if len(pages) < 4:
        return pages
    seen: Counter[str] = Counter()
    for lines in pages:
        full = [line for line in lines if line]
        seen.update({_NUMBERS.sub("#", line) for line in (*full[:2], *full[-2:])})
    heads = {line for line, times in seen.items() if times * 2 > len(pages)}
    return [_trimmed(lines, heads) for lines in pages]


def _trimmed(lines: list[str], heads: set[str]) -> list[str]:
    full = [line for line in lines if line]
    edge = {*full[:2], *full[-2:]}
    return [x for x in lines if x not in edge or _NUMBERS.sub("#", x) not in heads]


def _paragraphs(pages: list[list[str]]) -> list[Block]:
    out: list[Block] = []
    now: list[str] = []

    def flush() -> None:
        text = one_line("\n".join(now).replace("\u2010\n", ""))
        if text:
            out.append(Block(text))
        now.clear()

    for lines in pages:
        width = _usual_width(lines)
        for line in lines:
            if not line:
                flush()
                continue
            now.append(line)
            # A line clearly shorter than the others ends its paragraph, or is a heading.
            if len(line) < 0.6 * width or (len(line) < 0.85 * width and _ENDS.search(line)):
                flush()
        if now and _ENDS.search(now[-1]):
            flush()  # else the paragraph goes on overleaf
    flush()
    return [_as_heading(block, after) for block, after in zip(out, [*out[1:], None], strict=False)]


def _as_heading(block: Block, after: Block | None) -> Block:
    """A short line that ends no sentence, above a paragraph that is longer."""
    text = block.text
    short = 3 <= len(text) <= 80 and not _ENDS.search(text) and (text[0].isupper() or text[0] > "z")
    numbered = bool(_NUMBERED.match(text)) and len(text) <= 100
    if after is not None and len(after.text) > len(text) and (short or numbered):
        return Block(text, 2)
    return block


def _usual_width(lines: list[str]) -> int:
    lengths = sorted(len(line) for line in lines if line)
    return lengths[int(len(lengths) * 0.9)] if lengths else 0
