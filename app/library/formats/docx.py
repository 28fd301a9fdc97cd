"""DOCX to blocks, by way of HTML, after a look at what the archive unpacks to."""

import io
import re
import zipfile
import zlib
from html import unescape
from typing import Any, Final
from xml.parsers.expat import ExpatError

import mammoth

from app.library.formats.html import parse_html
from app.library.formats.parsed import Parsed, Unreadable, clean, one_line

MOST_UNPACKED: Final = 200_000_000  # bytes, pictures included
MOST_XML: Final = 40_000_000  # bytes of the part that holds the text
_BODY: Final = "word/document.xml"
# What the archive, the XML and the converter raise on a damaged file.
_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    ExpatError,
    OSError,
    LookupError,
    ValueError,
    AttributeError,
    TypeError,
    NotImplementedError,
)
_TITLE: Final = re.compile(r"<dc:title[^>]*>([^<]{1,400})<")
_DATE: Final = re.compile(r"<dcterms:modified[^>]*>([0-9]{4}-[01][0-9]-[0-3][0-9])")


def parse_docx(data: bytes) -> Parsed:
    """Raises `Unreadable`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(archive)
            core = _core(archive)
        result = mammoth.convert_to_html(
            io.BytesIO(data), convert_image=mammoth.images.img_element(_no_image)
        )
    except RecursionError:
        raise Unreadable("not a readable DOCX: it nests too deep") from None
    except _BROKEN as error:
        raise Unreadable(f"not a readable DOCX: {type(error).__name__}") from None
    page = parse_html(f"<body>{result.value}</body>")
    found, date = _TITLE.search(core), _DATE.search(core)
    title = one_line(clean(unescape(found[1]))) if found else ""
    return Parsed(title or page.title, page.blocks, date[1] if date else None)


def _no_image(_image: Any) -> dict[str, str]:
    return {}


def is_docx(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _BODY in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def _check(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    if any(part.flag_bits & 1 for part in parts):
        raise Unreadable("the DOCX needs a password")
    if sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise Unreadable(f"the DOCX unpacks to more than {MOST_UNPACKED // 1_000_000} MB")
    if any(p.file_size > MOST_XML for p in parts if p.filename.endswith((".xml", ".rels"))):
        raise Unreadable(f"the DOCX holds more than {MOST_XML // 1_000_000} MB of text")


def _core(archive: zipfile.ZipFile) -> str:
    try:
        return archive.read("docProps/core.xml").decode("utf-8", "replace")
    except KeyError:
        return ""
