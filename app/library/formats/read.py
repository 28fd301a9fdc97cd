"""A file's bytes to its text: which format it is, by content first, and the right reader."""

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Final, Literal

from app.library.formats.charset import decode
from app.library.formats.docx import is_docx, parse_docx
from app.library.formats.html import parse_html
from app.library.formats.markdown import parse_markdown
from app.library.formats.parsed import Parsed, Unreadable, clean
from app.library.formats.pdf import parse_pdf
from app.library.formats.plain import parse_plain

Format = Literal["pdf", "docx", "html", "markdown", "text"]

BIGGEST: Final = 32 * 1024 * 1024  # bytes of one file
SUFFIXES: Final[dict[str, Format]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".rst": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
}
_HTML: Final = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta)[\s>]", re.IGNORECASE)

_ODD: Final = re.compile("[\x00-\x08\x0e-\x1a\ufffd]")


def read_document(data: bytes, name: str, tick: Callable[[], None] = lambda: None) -> Parsed:
    """Raises `Unreadable`. The title falls back to the file's name without its suffix."""
    if len(data) > BIGGEST:
        raise Unreadable(too_big(len(data)))
    if not data.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        raise Unreadable("the file is empty")
    match format_of(data, name):
        case "pdf":
            parsed = parse_pdf(data, tick)
        case "docx":
            parsed = parse_docx(data)
        case "html":
            parsed = parse_html(decode(data, markup=True))
        case "markdown":
            parsed = parse_markdown(decode(data))
        case "text":
            parsed = parse_plain(decode(data))
    if not any(block.text.strip() for block in parsed.blocks):
        raise Unreadable("no text in it")
    title = parsed.title.strip() or clean(PurePath(name).stem)
    return Parsed(title, parsed.blocks, parsed.date)


def too_big(size: int) -> str:
    return f"{size / 2**20:.0f} MiB, over the limit of {BIGGEST // 2**20} MiB"


def format_of(data: bytes, name: str) -> Format:
    """Magic bytes win over the suffix; a suffix that promises a binary format must keep it.

    Raises `Unreadable` for what is none of the formats.
    """
    claimed = SUFFIXES.get(PurePath(name).suffix.lower())
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(b"PK\x03\x04") and is_docx(data):
        return "docx"
    if claimed == "pdf":
        raise Unreadable("not a PDF: it does not begin with %PDF-")
    if claimed == "docx":
        raise Unreadable("not a DOCX: it is not a Word archive")
    if _is_binary(data):
        raise Unreadable("neither text nor a format that can be read")
    if claimed != "markdown" and _HTML.search(data[:1024].replace(b"\x00", b"")):
        return "html"
    return claimed or "text"


def _is_binary(data: bytes) -> bool:
    """Control characters that no text has. UTF-16 has zero bytes, so the text is asked."""
    head = decode(data[:8192])
    return len(_ODD.findall(head)) * 20 > len(head)
