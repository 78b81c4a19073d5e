"""Markdown, HTML, PDF and Word: their text, with headings and pages as places."""

from __future__ import annotations

import io
import zipfile

import docx
import pypdf
import pytest

from core.corpus.readers.html import read_html
from core.corpus.readers.markdown import read_markdown
from core.corpus.readers.pdf import read_pdf
from core.corpus.readers.word import read_word
from core.errors import BadInput

MARKDOWN = """Intro.

# The *first* title

Text `code`.

```python
# no heading
```

## Part [two](http://x) ##

More.

Under
-----

Last
"""


def test_headings_of_markdown_are_places():
    (document,) = read_markdown("a/b.md", MARKDOWN.encode())
    assert document.text == MARKDOWN and document.title == "The first title"
    assert [label for _, label in document.places] == ["The first title", "Part two", "Under"]
    at = document.text.index
    assert [document.place_at(at(word)) for word in ("Intro", "no heading", "More", "Last")] == [
        "",
        "The first title",
        "Part two",
        "Under",
    ]


def test_markdown_without_headings_is_named_by_its_file():
    (document,) = read_markdown("notes.md", b"---\ntitle: x\n---\n\nJust text.")
    assert (document.title, document.places) == ("notes", ())


PAGE = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html><head><title> The
 page </title><style>p {color: red}</style><script>var x = "<p>no</p>"</script></head>
<body><h1>First <em>part</em></h1><p>One   two<br>three &lt;script&gt; {braces}</p><!-- no --><script>alert(1)</script>
<h2>Second</h2><ul><li>a</li><li>b <b>c</b>d</li></ul><pre>x
  y</pre><table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>tail</body></html>"""


def test_a_page_is_read_as_its_visible_text():
    (document,) = read_html("p.html", PAGE.encode())
    assert document.text == (
        "First part\nOne two\nthree <script> {braces}\nSecond\na\nb cd\nx\n  y\n1 | 2\n3 | 4\ntail"
    )
    assert document.title == "The page"
    assert [(document.text[at : at + 5], label) for at, label in document.places] == [
        ("First", "First part"),
        ("Secon", "Second"),
    ]


def test_a_page_in_another_encoding_is_read():
    page = '<html><head><meta charset="gb2312"></head><body><p>你好，世界</p></body></html>'
    assert read_html("p.htm", page.encode("gb2312"))[0].text == "你好，世界"


def test_a_page_of_deeply_nested_parts_is_read():
    page = "<div>" * 1000 + "deep" + "</div>" * 1000
    assert "deep" in read_html("deep.html", page.encode())[0].text


@pytest.mark.parametrize("data", [b"", b"<html><script>x</script></html>", b"  "])
def test_a_page_without_text_is_refused(data):
    with pytest.raises(BadInput, match="p.html"):
        read_html("p.html", data)


def made_pdf(*pages: str, title: str = "", password: str = "", cipher: str = "") -> bytes:
    """Return a PDF with each of these texts on its own page."""
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter()
    font = DictionaryObject(
        {NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")}
    )
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    for text in pages:
        page = writer.add_blank_page(300, 300)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode() if text else b"")
        page[NameObject("/Contents")] = writer._add_object(stream)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password)
    if cipher:  # The PDF opens without a password.
        writer.encrypt("", "owner", algorithm=cipher)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_pages_of_a_pdf_are_places():
    (document,) = read_pdf("a.pdf", made_pdf("First words", "", "Third words", title="A report"))
    assert document.text == "First words\n\n\n\nThird words" and document.title == "A report"
    assert document.places == ((0, "page 1"), (13, "page 2"), (15, "page 3"))
    assert document.place_at(document.text.index("Third")) == "page 3"


@pytest.mark.parametrize(
    "data, sentence",
    [
        (b"", "a.pdf is empty"),
        (made_pdf("", ""), "holds no text in its 2 pages; it looks scanned"),
        (made_pdf("x", password="secret"), "locked with a password"),
        (b"%PDF-1.7\n" + b"broken " * 100, "damaged or no PDF"),
        (made_pdf("some words")[:200], "damaged or no PDF"),
        (b"just text", "damaged or no PDF"),
    ],
)
def test_a_pdf_that_cannot_be_read_is_refused_by_name(data, sentence):
    with pytest.raises(BadInput, match=f"a.pdf.*{sentence}|{sentence}"):
        read_pdf("a.pdf", data)


@pytest.mark.parametrize("cipher", ["RC4-128", "AES-128", "AES-256"])
def test_an_encrypted_pdf_that_opens_without_a_password_is_read(cipher):
    assert read_pdf("a.pdf", made_pdf("Some words", cipher=cipher))[0].text == "Some words"


def test_a_pdf_with_an_unsupported_cipher_is_refused(monkeypatch):
    from pypdf.errors import DependencyError

    def refused(*_):
        raise DependencyError("cryptography>=3.1 is required for AES algorithm")

    monkeypatch.setattr("pypdf.PdfReader.decrypt", refused)
    with pytest.raises(BadInput, match="a.pdf is encrypted"):
        read_pdf("a.pdf", made_pdf("x", password="secret"))


def made_docx() -> docx.document.Document:
    document = docx.Document()
    document.add_heading("The title", 0)
    document.add_paragraph("Before.")
    document.add_heading("Part one", 1)
    document.add_paragraph("Text with <b> and {braces}.")
    table = document.add_table(2, 2)
    for cell, text in zip((cell for row in table.rows for cell in row.cells), "abcd"):
        cell.text = text
    document.add_heading("Part two", 2)
    document.add_paragraph("The end.")
    return document


def saved(document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def test_headings_of_a_word_document_are_places_and_tables_stay_where_they_are():
    (document,) = read_word("a.docx", saved(made_docx()))
    assert document.text == (
        "The title\nBefore.\nPart one\nText with <b> and {braces}.\na | b\nc | d\nPart "
        "two\nThe end."
    )
    assert [label for _, label in document.places] == [
        "The title",
        "Part one",
        "Part two",
    ] and document.title == "The title"
    assert document.place_at(document.text.index("c | d")) == "Part one"


def zipped(**parts: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize(
    "data, sentence",
    [
        (b"", "a.docx is empty"),
        (b"no docx", "damaged or no Word document"),
        (zipped(a=b"x"), "damaged or no Word document"),
        (saved(made_docx())[:900], "damaged or no Word document"),
        (saved(docx.Document()), "holds no text"),
    ],
)
def test_a_word_document_that_cannot_be_read_is_refused_by_name(data, sentence):
    with pytest.raises(BadInput, match=sentence):
        read_word("a.docx", data)


def test_a_word_document_that_is_a_bomb_is_refused(monkeypatch):
    monkeypatch.setattr("core.corpus.readers.word.MAX_UNPACKED_BYTES", 1 << 20)
    with pytest.raises(BadInput, match="unpacks to more than 1 MB"):
        read_word("a.docx", zipped(bomb=b"\0" * (2 << 20)))
