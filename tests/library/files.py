"""Small real files of each format, made here."""

import io
import zipfile
from collections.abc import Sequence
from typing import Any

import docx

Lines = Sequence[str]


def pdf(pages: Sequence[Lines], *, encrypted: bool = False) -> bytes:
    """A PDF of one line of Helvetica after another, a page per item."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 50 750 Td {shown} ET"
        font = "/Resources << /Font << /F1 3 0 R >> >>"
        box = f"/MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R {font}"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {box} >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    extra = ""
    if encrypted:
        key = "00" * 32
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>")
        extra = f" /Encrypt {len(objects)} 0 R /ID [<00> <00>]"
    out = "%PDF-1.4\n"
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R{extra} >>\nstartxref\n{len(out)}\n%%EOF"
    return f"{out}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")


def word(paragraphs: Sequence[tuple[str, int]], *, title: str = "") -> bytes:
    """A DOCX; each paragraph is (text, heading level or 0)."""
    made: Any = docx.Document()
    made.core_properties.title = title
    for text, level in paragraphs:
        if level:
            made.add_heading(text, level)
        else:
            made.add_paragraph(text)
    table = made.add_table(2, 2)
    for number, text in enumerate(("name", "default", "LEASE_SECONDS", "30")):
        table.cell(number // 2, number % 2).text = text
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def with_body(archive: bytes, body: bytes) -> bytes:
    """The same DOCX with another `word/document.xml`."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, body if name == "word/document.xml" else old.read(name))
    return out.getvalue()


PAGE = """<!doctype html><html><head><title>How leases work - The site</title>
<meta property="article:published_time" content="2024-05-06T10:00:00Z"><style>p {}</style></head>
<body class="has-sidebar"><header><a href="/">The site</a></header>
<nav><ul><li><a href="/">Home</a></li><li><a href="/x">About</a></li></ul></nav>
<div class="content"><h1>How leases work</h1>
<p>A lease is a <b>time-limited</b> right
 to execute a run.<br>It is renewed.</p>
<ul><li><p>first point</p></li><li>second <a href="/y">point</a></li></ul>
<table><tr><th>Name</th><th>Default</th></tr><tr><td><p>LEASE</p></td><td>30</td></tr></table>
<pre><code>def f():

    return 1
</code></pre><p hidden>secret</p></div>
<div id="sidebar"><a href="/a">one</a><a href="/b">two</a></div>
<script>var x = "<p>script</p>";</script><footer>Copyright</footer></body></html>"""
