"""Encodings of texts: known, certain, or chosen by a person.

An uncertain one is refused with a list of candidates.
"""

from __future__ import annotations

import pytest

from core.corpus.readers import read_files
from core.corpus.readers.options import ReadingOptions
from core.corpus.readers.text import decode_file
from core.errors import BadInput
from core.io.encoding import ENCODINGS, encodings_that_fit, known_encoding

POLISH = "Żółty dom stoi przy ulicy Łąkowej. Córka źle spała, więc wstała później niż zwykle."
RUSSIAN = "Осенью старый рыбак чинил сети на берегу и рассказывал внукам о море."
JAPANESE = "港の古い灯台は、三人の漁師によって守られていました。"
CHINESE = "港口的灯塔是由三个渔民守护的，他们每天晚上点灯。"
KOREAN = "항구의 오래된 등대는 세 명의 어부가 지키고 있었다."
GREEK = "Ο γέρος ψαράς διόρθωνε τα δίχτυα του στην παραλία."
FRENCH = "L’élève préféré du maître dînait déjà à l’hôtel, près de la forêt."


@pytest.mark.parametrize(
    "text, encoding",
    [
        (POLISH, "iso8859-2"),
        (POLISH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp866"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (CHINESE, "gb18030"),
        (KOREAN, "cp949"),
        (GREEK, "cp1253"),
        (FRENCH, "cp1252"),
        ("Harbour log of May, written by Ann Lee.", "utf-16-le"),
        ("Harbour log of May, écrit à Genève.", "utf-16-be"),
        (RUSSIAN + " See the log.", "utf-32-le"),
    ],
)
def test_a_sentence_is_decoded_correctly(text, encoding):
    notes: list[str] = []
    assert decode_file("a.txt", text.encode(encoding), notes.append) == text
    (note,) = notes
    assert note.startswith("a.txt is not UTF-8; it was read as ")


def test_one_letter_is_certain_if_all_candidates_agree():
    assert decode_file("a.txt", "Müller and Söhne".encode("cp1252")) == "Müller and Söhne"


UNSURE = [
    "Москва".encode("cp1251"),
    "Árvíztűrő tükörf".encode("iso8859-2"),
    "ประภาคารเก่า".encode("cp874"),
]


@pytest.mark.parametrize("data", UNSURE)
def test_an_uncertain_encoding_is_refused_with_candidates(data):
    with pytest.raises(
        BadInput,
        match="a.txt is not UTF-8, and its encoding is not sure: .+ or .+ Name its encoding",
    ):
        decode_file("a.txt", data)


def test_no_known_text_is_decoded_wrongly():
    """A text that is accepted is decoded correctly.

    Some short pieces of text are refused instead.
    """
    texts = {
        POLISH: ("iso8859-2", "cp1250"),
        RUSSIAN: ("cp1251", "koi8-r", "cp866"),
        JAPANESE: ("cp932", "euc_jp"),
        CHINESE: ("gb18030",),
        KOREAN: ("cp949",),
        GREEK: ("cp1253",),
        FRENCH: ("cp1252",),
    }
    read = refused = 0
    for text, encodings in texts.items():
        for encoding in encodings:
            for length in (16, 30, len(text)):
                piece = text[:length].replace("’", "'")
                try:
                    assert decode_file("a.txt", piece.encode(encoding)) == piece
                    read += 1
                except BadInput:
                    refused += 1
    assert read > 3 * refused


def test_a_chosen_encoding_applies_to_texts_that_are_not_utf_8(tmp_path):
    (tmp_path / "old.txt").write_bytes("Příliš žluťoučký".encode("iso8859-2"))
    (tmp_path / "new.txt").write_text("Příliš", "utf-8")
    (tmp_path / "rows.csv").write_bytes("text\nžluťoučký\n".encode("iso8859-2"))
    (tmp_path / "page.html").write_bytes("<p>kůň</p>".encode("iso8859-2"))
    read = read_files([tmp_path], encoding="latin2")
    assert {one.id: one.text for one in read.documents} == {
        "old.txt": "Příliš žluťoučký",
        "new.txt": "Příliš",
        "rows.csv:1": "žluťoučký",
        "page.html": "kůň",
    }
    assert read.notes == []


def test_a_wrong_chosen_encoding_is_reported():
    with pytest.raises(BadInput, match="a.txt is not cp932 at byte 1"):
        decode_file("a.txt", b"\x81", options=ReadingOptions(encoding="cp932"))
    with pytest.raises(
        BadInput, match="There is no encoding “cp12511” of texts. Did you mean “cp1251”"
    ):
        known_encoding("cp12511")
    with pytest.raises(BadInput, match="There is no encoding “hex”"):
        known_encoding("hex")
    assert (
        known_encoding("") == ""
        and known_encoding("Shift_JIS") == "cp932"
        and known_encoding(" GB2312 ") == "gb18030"
    )
    assert all(known_encoding(name) for name in ENCODINGS)


def test_utf_8_with_damage_is_utf_8():
    notes: list[str] = []
    assert (
        decode_file("a.txt", "naïve café, Genève, Zoé ".encode() + b"\xe9.", notes.append)
        == "naïve café, Genève, Zoé \ufffd."
    )
    assert "a.txt is UTF-8 with bytes that are none" in notes[0]


def test_another_encoding_far_into_a_file_is_found(tmp_path):
    (tmp_path / "rows.csv").write_bytes(
        b"text\n" + b"plain words\n" * 300_000 + f"{RUSSIAN}\n".encode("cp1251")
    )
    (tmp_path / "long.txt").write_bytes(
        b"plain words\n" * 300_000 + f"{RUSSIAN}\n".encode("cp1251")
    )
    documents = read_files([tmp_path]).documents
    assert documents[0].text.endswith(f"{RUSSIAN}\n") and documents[-1].text == RUSSIAN


def test_fitting_encodings_are_offered():
    offered = dict(encodings_that_fit(JAPANESE.encode("cp932")))
    assert (
        offered["cp932"] == JAPANESE[:40]
        and "cp949" not in offered
        or offered["cp949"] != offered["cp932"]
    )
