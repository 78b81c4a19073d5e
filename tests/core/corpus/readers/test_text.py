"""Plain text in common encodings, and files that only look like text."""

from __future__ import annotations

import codecs

import pytest

from core.corpus.readers.text import decode_file, read_plain
from core.errors import BadInput
from tests.timing import is_linear

GREEK = "Η Ξανθή και ο Γιώργος περπατούν στην παραλία. " * 5
CHINESE = "今天天气很好，我们去公园散步。然后回家吃饭。" * 5


@pytest.mark.parametrize(
    "data, text",
    [
        ("naïve café".encode(), "naïve café"),
        (codecs.BOM_UTF8 + "naïve".encode(), "naïve"),
        ("naïve".encode("utf-16"), "naïve"),
        (codecs.BOM_UTF16_BE + "naïve".encode("utf-16-be"), "naïve"),
        ("naïve".encode("utf-32"), "naïve"),
        (b"one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        (GREEK.encode("cp1253"), GREEK),
        (CHINESE.encode("gb18030"), CHINESE),
        (
            ("Die Straße führt über die Brücke, schön und grün. " * 5).encode("cp1252"),
            "Die Straße führt über die Brücke, schön und grün. " * 5,
        ),
        (b"\x1b[1mbold\x1b[0m in a log", "\x1b[1mbold\x1b[0m in a log"),
    ],
)
def test_text_is_read_in_its_encoding(data, text):
    assert decode_file("x.txt", data) == text


@pytest.mark.parametrize(
    "data, sentence",
    [
        (b"", "x.txt is empty"),
        (b" \n\t\r\n", "x.txt is empty"),
        (codecs.BOM_UTF8, "x.txt is empty"),
        (bytes(range(256)) * 10, "x.txt holds no text but binary data"),
        (b"\x00\x01\x02abc", "binary"),
        (b"\x7fELF\x02\x01\x01" + b"\x00" * 50, "binary"),
        (b"%PDF-1.7 ...", "holds a PDF by its first bytes"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "holds a picture"),
        (b"PK\x03\x04\x14\x00", "a zip or an Office document"),
        (b"\xff\xfea", "is not utf-16 at byte 3"),
    ],
)
def test_non_text_files_are_refused_with_a_sentence(data, sentence):
    with pytest.raises(BadInput, match=sentence):
        decode_file("x.txt", data)


def test_marks_are_kept_verbatim():
    wild = "<script>alert('{x}')</script> {braces} {{}} %s \\n &amp;"
    (document,) = read_plain("notes/wild.txt", wild.encode())
    assert (document.text, document.id, document.title, document.source) == (
        wild,
        "notes/wild.txt",
        "wild",
        "notes/wild.txt",
    )


def test_reading_takes_time_in_proportion_to_the_size():
    part = ("A line of ordinary words, some 60 characters long in all.\n" * 18).encode()
    assert len(decode_file("large.txt", part * 10_000)) == len(part) * 10_000 > 10_000_000
    assert is_linear(lambda parts: decode_file("a.txt", part * parts), 10_000)
