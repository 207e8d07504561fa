"""PDFs that are wrong in one way each, made with PyMuPDF or written out by hand."""

from __future__ import annotations

import zlib
from pathlib import Path

import pymupdf
from contexts_drawing import PROSE

_BLOCK = 1 << 20


def pdf_of(objects: dict[int, bytes], root: int = 1) -> bytes:
    """A PDF of numbered objects, with its table of them."""
    out = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (max(objects) + 1)
    for number in range(1, max(objects) + 1):
        out += b"%010d 00000 n \n" % places[number]
    out += b"trailer\n<</Size %d/Root %d 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (max(objects) + 1, root, start)
    return bytes(out)


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<</Length %d%s>>\nstream\n%s\nendstream" % (len(data), entries, data)


def many_pages(n_pages: int) -> bytes:
    """Blank pages in one flat tree."""
    kids = b" ".join(b"%d 0 R" % number for number in range(3, n_pages + 3))
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, n_pages)}
    objects |= dict.fromkeys(range(3, n_pages + 3), b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>")
    return pdf_of(objects)


def zeros_deflated(n_bytes: int, unit: bytes) -> bytes:
    """What inflates to ``n_bytes`` of ``unit`` repeated, about a thousandth of that."""
    packer = zlib.compressobj(9)
    block = unit * (_BLOCK // len(unit))
    return b"".join([*(packer.compress(block) for _ in range(n_bytes // _BLOCK)), packer.flush()])


def bomb(n_bytes: int) -> bytes:
    """Page 1 and page 3 say something; the content of page 2 inflates to ``n_bytes`` of text."""
    font = b"/Resources<</Font<</F1 6 0 R>>>>"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]" + font + b"/Contents %d 0 R>>"
    text = b"BT /F1 12 Tf 60 700 Td (" + PROSE.encode() + b") Tj ET"
    content = zeros_deflated(n_bytes, b"BT /F1 9 Tf 9 9 Td (boom) Tj ET ")
    return pdf_of(
        {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: b"<</Type/Pages/Kids[3 0 R 4 0 R 5 0 R]/Count 3>>",
            3: page % 7,
            4: page % 8,
            5: page % 7,
            6: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            7: stream(text),
            8: stream(content, b"/Filter/FlateDecode"),
        }
    )


def giant_image(side: int) -> bytes:
    """Page 1 shows a grey image of ``side`` × ``side`` pixels that the file holds in a few bytes; page 2 has text."""
    pixels = zlib.compress(b"\x80" * 1000)
    text = b"BT /F1 12 Tf 60 700 Td (" + PROSE.encode() + b") Tj ET"
    box = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]"
    return pdf_of(
        {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
            3: box + b"/Resources<</XObject<</I 5 0 R>>>>/Contents 6 0 R>>",
            4: box + b"/Resources<</Font<</F1 7 0 R>>>>/Contents 8 0 R>>",
            5: stream(
                pixels,
                b"/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8"
                b"/Filter/FlateDecode" % (side, side),
            ),
            6: stream(b"q 500 0 0 700 40 60 cm /I Do Q"),
            7: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            8: stream(text),
        }
    )


def looping_pages() -> bytes:
    """A page tree that has itself below itself."""
    return pdf_of({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"})


def with_extras(path: Path) -> Path:
    """A page, a script that runs on opening, a named one, and an attached file."""
    pdf = pymupdf.open()
    pdf.new_page().insert_text((60, 120), PROSE)
    pdf.embfile_add("prices.csv", b"a,b\n1,2\n", filename="prices.csv")
    script = pdf.get_new_xref()
    pdf.update_object(script, "<</S/JavaScript/JS(app.alert\\(1\\))>>")
    pdf.xref_set_key(pdf.pdf_catalog(), "OpenAction", f"{script} 0 R")
    pdf.save(str(path))
    return path
