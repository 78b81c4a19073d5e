"""Detection of the encoding of a text, and decoding.

A byte order mark decides first. Else a text that is valid UTF-8 is read as UTF-8. Else the encoding
that a person names is used. Else it is detected from the bytes, and BadInput is raised if several
encodings fit equally well.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from core.errors import BadInput, shorten, suggest_name

MARKED_UTF8 = "utf-8-sig"
Note = Callable[[str], None]  # receives a sentence for the person, such as on a detected encoding
# Byte order marks. Those of UTF-32 come first, as that of UTF-16-LE is the beginning of one of
# them.
BOMS = (
    (codecs.BOM_UTF8, MARKED_UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UTF8 = "utf-8"
WESTERN_ENCODING = "cp1252"
SEVEN_BIT_ENCODING = "iso2022_jp"
# Encodings without a mark whose European letters have zero bytes. For each: the offsets within four
# bytes that are zero, the least share of zeros at each of these, and the largest share at the
# others.
WIDE_ENCODINGS = {
    "utf-32-le": ((2, 3), 0.9, 1.0),
    "utf-32-be": ((0, 1), 0.9, 1.0),
    "utf-16-le": ((1, 3), 0.05, 0.01),
    "utf-16-be": ((0, 2), 0.05, 0.01),
}
# Python's names of encodings, by their names in detectors and on the web. Many texts use letters of
# a superset of their encoding, so the superset is used if Python has one.
CODECS_BY_NAME = {
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "iso-8859-1": WESTERN_ENCODING,
    "latin-1": WESTERN_ENCODING,
    "latin1": WESTERN_ENCODING,
    "x-mac-cyrillic": "mac_cyrillic",
    "macintosh": "mac_roman",
    "iso-8859-8-i": "iso8859-8",
    "windows-874": "cp874",
}
# Encodings that are offered to a person, each with its use.
ENCODINGS = {
    WESTERN_ENCODING: "Western Europe",
    "mac_roman": "Western Europe, older Macs",
    "cp850": "Western Europe, DOS",
    "iso8859-2": "Central Europe",
    "cp1250": "Central Europe, Windows",
    "cp852": "Central Europe, DOS",
    "cp1251": "Cyrillic, Windows",
    "koi8-r": "Cyrillic, KOI8",
    "cp866": "Cyrillic, DOS",
    "cp1253": "Greek",
    "cp1254": "Turkish",
    "cp1255": "Hebrew",
    "cp1256": "Arabic",
    "cp1257": "Baltic",
    "cp1258": "Vietnamese",
    "cp874": "Thai",
    "cp932": "Japanese, Shift-JIS",
    "euc_jp": "Japanese, EUC",
    "gb18030": "Chinese, simplified (GBK)",
    "big5": "Chinese, traditional (Big5)",
    "cp949": "Korean",
    "utf-16-le": "UTF-16 without a mark",
}
DETECTION_SIZE_BYTES = 1 << 16  # bytes of a text from which its encoding is detected
SAMPLE_CHARACTERS = 40  # characters of a sample that shows a text in an encoding
# Control characters except tabs, line breaks, form feeds and the escapes of 7-bit Japanese.
CONTROL_SIGNS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
MAX_CONTROL_SHARE = 0.01  # share of control characters from which bytes are no text
MIN_WIDE_BYTES = 8  # a shorter text is not detected by its zeros
# Valid UTF-8 letters per invalid byte from which a text counts as damaged UTF-8.
MIN_VALID_PER_INVALID = 4
JAPANESE_ESCAPES = (b"\x1b$B", b"\x1b$@", b"\x1b(J")  # switch to Japanese in a 7-bit text
ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK", "HEBREW", "ARABIC", "THAI", "ARMENIAN"})
# Signs that may be within a word, such as apostrophes, hyphens and joiners.
SIGNS_WITHIN_WORDS = "\u2019\u02bc\u2011\u2010\xad\xb7\xb0\u200c\u200d"
ANY_SCRIPT = "any"  # stands for the script of characters that occur in words of several scripts
# From a letter to a letter, with at most 40 characters between them that separate no words.
WORD_PATTERN = re.compile(r"[^\W\d_][^\s,.;:!?()\[\]{}<>\"/|\\*+=_#@&%$0-9-]{0,40}[^\W\d_]")
# A letter followed by a sign that opens a quotation or question.
LETTER_BEFORE_OPENING = re.compile("[^\\W\\d_][\u201a\u201e\xa1\xbf]")
MAX_SEARCHED_LETTERS = 20_000  # letters of a text that are searched for signs of wrong decoding
ASCII = frozenset(map(chr, range(128)))
# Characters common in Western European texts; wrongly decoded texts have others.
WESTERN_LETTERS = frozenset("äöüßÄÖÜéèêàâçîôûïëñáíóúåøæÉÀÇÑ‘’“”«»–—…€£§©°•")
# Unicode's categories of control, unassigned and private characters.
CATEGORIES_IN_NO_TEXT = frozenset({"Cc", "Cn", "Co"})
FILE_SIGNATURES = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip or an Office document",
    b"{\\rtf": "a document in RTF",
    b"\x89PNG": "a picture",
}


def ignore_note(_: object) -> None:
    """Discard a note."""


class Encoding(NamedTuple):
    """The name of an encoding, and the decoder's handling of invalid bytes."""

    name: str
    errors: str = "strict"


def known_encoding(name: str) -> str:
    """Return Python's name of an encoding that a person or a library names.

    The result is empty for an empty name.

    Raises BadInput if there is no such text encoding.
    """
    codec = name.strip().lower()
    codec = CODECS_BY_NAME.get(codec, codec)
    try:
        return codecs.lookup(codec).name if codec and "a".encode(codec) else ""
    except (LookupError, ValueError):
        raise BadInput(
            f"There is no encoding “{shorten(name, 40)}” of texts.{suggest_name(name, ENCODINGS)}"
        ) from None


def decode_text(
    name: str, data: bytes, declared_name: str = "", choice: str = "", note: Note = ignore_note
) -> str:
    """Decode bytes to text.

    The encoding is the first of these that fits: that of the byte order mark, the one that the
    content declares, UTF-8, the one that a person chose, and the detected one.

    Parameters
    ----------
    name : the file's name, for messages.
    data : the bytes of the whole text.
    declared_name : name of the encoding that the content itself declares, as HTML does.
    choice : name of the encoding that a person chose, as `known_encoding` returns it.
    note : receives a sentence on a detected encoding.

    Raises
    ------
    BadInput
        If the bytes are no text, or fit several encodings equally well.
    """
    encoding = Encoding(marked_encoding(data))
    if not encoding.name:
        for codec in filter(None, (declared_name, UTF8)):
            try:
                text = data.decode(codec)
                if codec == declared_name or not may_be_other_encoding(data):
                    return check_text(name, text)
            except (UnicodeDecodeError, LookupError):
                continue
        encoding = detect_encoding(name, detection_bytes(data), choice, note)
    try:
        return check_text(name, data.decode(*encoding))
    except UnicodeDecodeError as error:
        raise encoding_error(name, encoding.name, error.start) from None


def marked_encoding(data: bytes) -> str:
    """Return the encoding of a byte order mark at the beginning. Empty without one."""
    return next((encoding for mark, encoding in BOMS if data.startswith(mark)), "")


def may_be_other_encoding(data: bytes) -> bool:
    """Return whether bytes that are valid UTF-8 may be a text of another encoding.

    They may if they hold zeros, or escapes that switch to Japanese.
    """
    return b"\0" in data or any(escape in data for escape in JAPANESE_ESCAPES)


def detection_bytes(data: bytes) -> bytes:
    """Return the part of a text from which its encoding is detected.

    The part begins with the first line that has a byte beyond ASCII.
    """
    start = 0
    if not may_be_other_encoding(data[:DETECTION_SIZE_BYTES]):
        match = BEYOND_ASCII.search(data)
        if match is not None:
            start = data.rfind(b"\n", 0, match.start()) + 1
    return data[start : start + DETECTION_SIZE_BYTES]


def detect_encoding(name: str, data: bytes, choice: str = "", note: Note = ignore_note) -> Encoding:
    """Return the encoding of a text that has no mark and is not UTF-8.

    An encoding that a person chose is returned unchecked. Else escapes indicate 7-bit Japanese,
    zero bytes UTF-16 or UTF-32, and many valid letters damaged UTF-8. Otherwise two detectors
    propose encodings, and the decoded text with the fewest signs of a wrong decoding decides. Of
    several such texts, that in cp1252 is preferred if it has no such sign and all its letters
    beyond ASCII are common in Western European texts.

    Parameters
    ----------
    name : the file's name, for messages.
    data : the part of the text that `detection_bytes` returns.
    choice : name of the encoding that a person chose; empty to detect it.
    note : receives a sentence on the detected encoding.

    Raises
    ------
    BadInput
        If several encodings remain, with a sample of the text in each, or the bytes are no text.
    """
    if choice:
        return Encoding(choice)
    if any(escape in data for escape in JAPANESE_ESCAPES):
        return _note_encoding(name, Encoding(SEVEN_BIT_ENCODING), note)
    if b"\0" in data:
        return _note_encoding(name, Encoding(_wide_encoding(name, data)), note)
    if _is_damaged_utf8(data):
        note(
            f"{name} is UTF-8 with bytes that are none; they are shown as �. Name its "
            "encoding where it is another."
        )
        return Encoding(UTF8, "replace")
    return _note_encoding(name, Encoding(_likely_encoding(name, data)), note)


def _likely_encoding(name: str, data: bytes) -> str:
    """Return the proposed encoding whose text has the fewest signs of a wrong decoding.

    Raises BadInput if no encoding is proposed, or several with different texts remain.
    """
    texts: dict[str, str] = {}  # the decoded text by encoding
    for encoding in _detect_encodings(data):
        text = _decode_part(data, encoding)
        if text:
            texts[encoding] = text
    if not texts:
        raise no_text_error(name)
    sign_counts = {encoding: _count_signs_of_error(text) for encoding, text in texts.items()}
    fewest = min(sign_counts.values())
    likely = {encoding: text for encoding, text in texts.items() if sign_counts[encoding] == fewest}
    if len(set(likely.values())) == 1:
        return next(iter(likely))
    if fewest == 0 and _is_western(likely.get(WESTERN_ENCODING)):
        return WESTERN_ENCODING
    raise _unsure_error(name, texts)


def _is_western(text: str | None) -> bool:
    """Return whether all letters beyond ASCII are common in Western European texts."""
    return text is not None and set(text) - WESTERN_LETTERS <= ASCII


def _detect_encodings(data: bytes) -> list[str]:
    """Return the encodings that two detectors propose: chardetng, which Firefox uses, and chardet.

    Encodings with a byte order mark are left out, as a mark only counts at the beginning of a file.
    """
    import chardet
    from chardetng_py import EncodingDetector

    detector = EncodingDetector()
    detector.feed(data, last=False)
    names = [detector.guess(tld=None, allow_utf8=False), chardet.detect(data).get("encoding") or ""]
    marks = {encoding for _, encoding in BOMS}
    return [name for name in dict.fromkeys(map(known_encoding, names)) if name not in {"", *marks}]


def _decode_part(data: bytes, encoding: str) -> str:
    """Decode a part of a text. Empty if it does not fit the encoding.

    Bytes that decode to characters that no text has do not fit either.
    """
    try:
        # An incremental decoder accepts a part that ends within a character.
        text = codecs.getincrementaldecoder(encoding)().decode(data)
    except (UnicodeDecodeError, LookupError):
        return ""
    signs = set(text) - set("\n\r\t\f\v\x1b\x1a")
    if any(unicodedata.category(sign) in CATEGORIES_IN_NO_TEXT for sign in signs):
        return ""
    return text


def _count_signs_of_error(text: str) -> int:
    """Return the number of signs that a text was decoded wrongly.

    The signs are words that mix scripts, words with an accented capital after a small letter, and
    opening quotation marks directly after a letter.
    """
    words = set(WORD_PATTERN.findall(text[:MAX_SEARCHED_LETTERS]))
    n_mixed = sum(len(set(map(_script, word)) - {ANY_SCRIPT}) > 1 for word in words)
    n_capitals = sum(
        any(a.islower() and b.isupper() and b not in ASCII for a, b in zip(word, word[1:]))
        for word in words
    )
    return n_mixed + n_capitals + len(LETTER_BEFORE_OPENING.findall(text[:MAX_SEARCHED_LETTERS]))


def _script(sign: str) -> str:
    """Return the script of a character within a word.

    Words do not mix these scripts. `ANY_SCRIPT` stands for characters that occur in words of
    several scripts, and “SIGN” for all others.
    """
    if sign < "\x80" or sign in SIGNS_WITHIN_WORDS:
        return "LATIN" if sign.isalpha() else ANY_SCRIPT
    script = unicodedata.name(sign, "").partition(" ")[0]  # a name is “GREEK SMALL LETTER ETA”
    if script in ALPHABETS:
        return script
    return ANY_SCRIPT if sign.isalpha() or unicodedata.category(sign).startswith("M") else "SIGN"


def _wide_encoding(name: str, data: bytes) -> str:
    """Return the encoding of `WIDE_ENCODINGS` that fits the zero bytes.

    Raises BadInput if none fits.
    """
    # The share of zeros at each offset within four bytes.
    zeros = [data[offset::4].count(0) / max(1, len(data[offset::4])) for offset in range(4)]
    for encoding, (offsets, min_share, max_share) in WIDE_ENCODINGS.items():
        fits = min(zeros[offset] for offset in offsets) >= min_share and all(
            zeros[offset] <= max_share for offset in {0, 1, 2, 3} - set(offsets)
        )
        if fits and len(data) >= MIN_WIDE_BYTES and _decode_part(data, encoding):
            return encoding
    raise no_text_error(name)


def _is_damaged_utf8(data: bytes) -> bool:
    """Return whether a text is UTF-8 but for a few bytes."""
    text = codecs.getincrementaldecoder(UTF8)("replace").decode(data)
    n_invalid = text.count("�")
    return sum(sign > "\x7f" for sign in text) - n_invalid >= MIN_VALID_PER_INVALID * n_invalid


def _note_encoding(name: str, encoding: Encoding, note: Note) -> Encoding:
    use = f" ({ENCODINGS[encoding.name]})" if encoding.name in ENCODINGS else ""
    note(
        f"{name} is not UTF-8; it was read as {encoding.name}{use}, which it looks like. "
        "Name its encoding where letters are wrong."
    )
    return encoding


def _unsure_error(name: str, texts: dict[str, str]) -> BadInput:
    """Return the error for a text that fits several encodings."""
    samples = [f"{encoding} (“{_beginning(text)}”)" for encoding, text in texts.items()]
    advice = "Name its encoding as the file is added, or save it as UTF-8."
    return BadInput(
        f"{name} is not UTF-8, and its encoding is not sure: {' or '.join(samples)}. {advice}"
    )


def _beginning(text: str) -> str:
    """Return `SAMPLE_CHARACTERS` characters of a text around the first one beyond ASCII."""
    words = " ".join(text.split())
    index = next((index for index, sign in enumerate(words) if sign > "\x7f"), 0)
    return words[max(0, index - SAMPLE_CHARACTERS // 4) :][:SAMPLE_CHARACTERS]


def encodings_that_fit(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the encodings of `ENCODINGS` that fit a text.

    Each comes with samples of the decoded text.
    """
    part = detection_bytes(data)
    for encoding in ENCODINGS:
        text = _decode_part(part, encoding)
        if text:
            yield encoding, _beginning(text)


def check_text(name: str, text: str) -> str:
    """Return a decoded text unchanged.

    Raises BadInput if it holds zeros or many control characters, as binary data does.
    """
    beginning = text[:DETECTION_SIZE_BYTES]
    n_controls = len(CONTROL_SIGNS.findall(beginning))
    if "\0" in text or n_controls > MAX_CONTROL_SHARE * len(beginning):
        raise no_text_error(name)
    return text


def check_first_bytes(name: str, data: bytes) -> None:
    """Raise BadInput if the bytes begin like a binary format."""
    for signature, kind in FILE_SIGNATURES.items():
        if data.startswith(signature):
            raise BadInput(
                f"{name} holds {kind} by its first bytes, not text; give it the suffix of "
                "what it is."
            )


def encoding_error(name: str, encoding: str, byte: int) -> BadInput:
    """Return the error for a byte that does not fit the encoding.

    Bytes are counted from 0.
    """
    return BadInput(
        f"{name} is not {encoding} at byte {byte + 1:,}; name its encoding, or save it as UTF-8."
    )


def no_text_error(name: str) -> BadInput:
    """Return the error for a file that holds no text."""
    return BadInput(f"{name} holds no text but binary data.")
