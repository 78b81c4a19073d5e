"""Normal forms of texts, so that different spellings of the same text compare as equal.

All comparisons of names, answers, titles and search words go through one of these forms:

==============  ===========================================================================
`fold`          without case and typography; letters, accents and punctuation stay
`unaccented`    as `fold`, without accents
`name_key`      as `fold`, without punctuation; one way to write a number
`normalize`     as `name_key`, without the words a, an, the and ASCII symbols (SQuAD)
`answer_words`  the words of `normalize`; each letter of a script without blanks is one
==============  ===========================================================================

Notes
-----
`fold` reads as one: all quotation marks, apostrophes, dashes and blanks of a kind; composed and
decomposed letters; compatibility forms (full-width letters, ligatures, presentation forms) and
their plain letters; decimal digits of all scripts. Invisible characters, and the vowel signs of
Arabic and Hebrew, are left out. Dotted and dotless I of Turkish are one letter.

Values that differ stay different. Superscripts stay superscripts, so that x² is not x2 and 10⁶
is not 106; 10^6 is 10⁶. Subscripts behind a letter are digits (CO₂ is CO2), others stay. A
fraction is its numerator, a slash and its denominator (½ is 1/2). Circled and bracketed numbers
stay.

A mark between two digits stays where it makes another number of them: 3.5 is 3,5 and not 35, and
5-10 is not 510. Marks before groups of three digits group thousands and are left out, and so are
decimals that are all zeros (1984.0 is 1984).
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from core.languages.scripts import UNSPACED_LETTER, UNSPACED_LETTERS

MAX_CACHED_CHARACTERS = 200  # longest text in the cache of names; texts have a smaller one
MINUS_CONTEXT_CHARACTERS = 16  # characters before a number that tell a minus from a dash
MAX_PATTERN_LETTERS = 24  # letters of a word in the pattern that selects rows

# Marks over and under letters.
COMBINING_MARKS = "".join(
    chr(code) for code in range(0x0300, 0x1A00) if unicodedata.category(chr(code)) in ("Mn", "Mc")
)
# Vowels and lengtheners that are seldom written.
OPTIONAL_MARKS = re.compile("[\u0640\u0610-\u061a\u064b-\u065f\u0670\u0591-\u05bd\u05bf-\u05c7]")

# The last six: Greek (two), languages of Mexico (two), Armenian, Hebrew.
APOSTROPHES = "'`´‘’‚‛′‵ʹʻʼʽʾʿ\u1fbd\u1fbfꞋꞌ՚׳"
QUOTE_SIGNS = "“”„‟«»″‶〝〞〟״"
PLAIN_SIGNS = {
    **dict.fromkeys(APOSTROPHES, "'"),
    **dict.fromkeys(QUOTE_SIGNS, '"'),
    **dict.fromkeys("−⁃˗", "-"),
    **dict.fromkeys("⁄∕", "/"),
    "\u066b": ".",
    "\u066c": ",",
    "\u2028": " ",
    "\u2029": " ",
    "\x85": " ",
    "İ": "i",
    "ı": "i",
    "\u034f": "",
}
STABLE_FORMS = ("<super>", "<sub>", "<circle>")  # decompositions that would change the meaning
NOT_DECOMPOSED = "\u0e33\u0eb3"  # Thai and Lao am, which count as one letter
PLAIN_DIGITS, RAISED_DIGITS, LOWERED_DIGITS = "0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", "₀₁₂₃₄₅₆₇₈₉"
SUPERSCRIPTS = str.maketrans(f"{PLAIN_DIGITS}+-", f"{RAISED_DIGITS}⁺⁻")
SUBSCRIPTS = str.maketrans(LOWERED_DIGITS, PLAIN_DIGITS)
SUBSCRIPT_NUMBER = re.compile("(?<=[^\\W\\d_])[₀-₉]+(?![0-9])")  # subscripts behind a letter
INVISIBLE = (
    "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
)
COMBINING = f"{COMBINING_MARKS}\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\uff9e\uff9f"
# A letter with the marks on it, which `fold` reads as a unit.
LETTER_CLUSTER = re.compile(
    f"[^\\W\\d_][{COMBINING}{INVISIBLE}]*[₀-₉]+(?![0-9])|.[{COMBINING}{INVISIBLE}]*", re.DOTALL
)
MARKED_LETTER = rf"(?:[^\W_]|[{COMBINING}{INVISIBLE}])"
FRACTIONS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒↉⅟"
MIXED_NUMBER = re.compile(f"(?<=[0-9])(?=[{FRACTIONS}])")
THIN_GROUP_SPACE = re.compile("(?<=[0-9])[\u00a0\u2007\u2009\u202f](?=[0-9]{3}(?![0-9]))")

MARKED_DIGIT = re.compile(r"[!-/:-@\[-`{-~][0-9]")
CARET_EXPONENT = re.compile(r"\^\{?([+-]?[0-9]+)\}?")
MARKED_NUMBER = re.compile(r"[0-9]+(?:[.,'/:~-][0-9]+)+")
BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[!-/:-@\[-`{-~]+(?=[0-9])")
MINUS_SIGN = re.compile(r"(?<![\w.)\]'\"%-])-(?=\.?[0-9])")
LEADING_POINT = re.compile(
    r"(?<![^\s(\[$+-])\.(?=[0-9])"
)  # the point of a decimal without its zero
BULLET_DASH = re.compile(r"^(\s*)-(?=[0-9])", re.MULTILINE)
# Control characters, which no text has, for marks that stay while punctuation is deleted.
RETAINED_POINT, RETAINED_DASH, RETAINED_SLASH, RETAINED_COLON, RETAINED_MARK = (
    "\x01\x02\x03\x04\x05"
)
RETAINED_SIGNS = (
    (RETAINED_POINT, "."),
    (RETAINED_DASH, "-"),
    (RETAINED_SLASH, "/"),
    (RETAINED_COLON, ":"),
    (RETAINED_MARK, "'"),
)

# Characters between two letters of a word, in RE2's syntax: all but most letters and ASCII
# digits. The ranges are few, as each pattern is compiled for each searched column.
BETWEEN_LETTERS = (
    "[^0-9A-Za-z\u0391-\u03f5\u0400-\u0481\u048a-\u052f\u05d0-\u05ea\u0620-\u063f\u0641-\u064a"
    "\u0671-\u06d3\u0904-\u0939\u0e01-\u0e30\u3041-\u3096\u30a1-\u30fa"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]*"
)
PUNCTUATION = str.maketrans("", "", string.punctuation)
# Symbols that are part of names: C++ is not C.
NAME_PUNCTUATION = str.maketrans("", "", "!\"'(),-./:;?[\\]_`{}")
ARTICLE_PATTERN = re.compile(r"\b(a|an|the)\b")
UNSPACED_GAP = re.compile(f"(?<=[{UNSPACED_LETTERS}])\\s+(?=[{UNSPACED_LETTERS}])")
UNSPACED_WORD = re.compile(f"[{UNSPACED_LETTERS}][{COMBINING_MARKS}]*|[^{UNSPACED_LETTERS}]+")
PAUSES = str.maketrans(dict.fromkeys("—―…", " "))  # marks that separate words without blanks


def fold(text: str) -> str:
    """Return a text without case and typography.

    >>> from core.languages.spelling import fold
    >>> fold("O’Neil") == fold("o'NEIL"), fold("ＡＢＣ‑１"), fold("10⁶"), fold("CO₂")
    (True, 'abc-1', '10⁶', 'co2')
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    return unicodedata.normalize("NFC", plain_signs(text).casefold().replace("i\u0307", "i"))


def plain_signs(text: str) -> str:
    """Return a text without typography; case, letters and accents stay.

    >>> from core.languages.spelling import plain_signs
    >>> plain_signs("“Ann” O’Neil") == plain_signs('"Ann" O`Neil'), plain_signs("Stone–Hill")
    (True, 'Stone-Hill')
    """
    if text.isascii():
        return text.replace("`", "'")
    text = unicodedata.normalize("NFC", _replace_signs(text, invisible=True))
    text = SUBSCRIPT_NUMBER.sub(lambda match: match[0].translate(SUBSCRIPTS), text)
    text = _replace_signs(MIXED_NUMBER.sub(" ", OPTIONAL_MARKS.sub("", text)))
    return text.replace("\u0e4d\u0e32", "\u0e33").replace("\u0ecd\u0eb2", "\u0eb3")


def fold_with_places(text: str) -> tuple[str, Sequence[int]]:
    """Return a folded text, and the index in the text of each character and of the end.

    >>> from core.languages.spelling import fold_with_places
    >>> fold_with_places("ﬁ ﬂ")
    ('fi fl', [0, 0, 1, 2, 2, 3])
    """
    if text.isascii():
        return fold(text), range(len(text) + 1)
    letters, indices = list[str](), list[int]()
    for cluster in LETTER_CLUSTER.finditer(text):
        folded = fold(cluster[0])
        letters.append(folded)
        indices.extend([cluster.start()] * len(folded))
    return "".join(letters), [*indices, len(text)]


def end_place(indices: Sequence[int], end: int) -> int:
    """Return the index in a text at which the folded character before `end` ends."""
    last = indices[end - 1]
    while indices[end] == last:
        end += 1
    return indices[end]


def unaccented(text: str) -> str:
    """Return a text without case, typography and accents; punctuation and blanks stay.

    >>> from core.languages.spelling import unaccented
    >>> unaccented("Café Noir"), unaccented("C++"), unaccented("x²")
    ('cafe noir', 'c++', 'x²')
    """
    folded = fold(text)
    if folded.isascii():
        return folded
    letters = unicodedata.normalize("NFD", folded)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def written_forms(name: str) -> list[str]:
    """Return a name in the forms of keyboards and of books, the given form first.

    It serves programs that compare characters exactly.

    >>> from core.languages.spelling import written_forms
    >>> written_forms("Ann"), written_forms("O'Neil"), len(written_forms("Jo’Ann Stone–Hill"))
    (['Ann'], ["O'Neil", 'O’Neil'], 6)
    """
    plain_name = unicodedata.normalize("NFC", plain_signs(name))
    forms = [name]
    for apostrophe in "'’":
        for dash in "-\u2011–":
            form = plain_name.replace("'", apostrophe).replace("-", dash)
            forms += [form, unicodedata.normalize("NFD", form)]
    return list(dict.fromkeys(forms))


def name_key(name: str) -> str:
    """Return a key that is equal for names that differ in case, typography and punctuation.

    Symbols that are part of names stay, as in C++ and C#. The key is empty for a name without any
    letter.

    >>> from core.languages.spelling import name_key
    >>> name_key("The “Spider–Rock”, No. 2"), name_key("C++"), name_key("1984.0"), name_key("3.5")
    ('the spiderrock no 2', 'c++', '1984', '3.5')
    """
    return " ".join(_strip_marks(name, NAME_PUNCTUATION).split())


def normalize(text: str) -> str:
    """Return a text in the form in which answers are compared.

    Case and typography are folded. Punctuation of all scripts and ASCII symbols are deleted, then
    the words a, an, the. Blanks are squeezed, and removed between letters of scripts without
    blanks. Deleting punctuation joins words: "U.S." becomes "us". For ASCII texts this is SQuAD's
    normalisation, except for marks between digits.

    >>> from core.languages.spelling import normalize
    >>> normalize("The U.S."), normalize("“The Heron”"), normalize("北京大学。"), normalize("1,984.0")
    ('us', 'heron', '北京大学', '1984')
    """
    return _normalized_name(text) if len(text) <= MAX_CACHED_CHARACTERS else _normalized_text(text)


def _normalize(text: str) -> str:
    return " ".join(ARTICLE_PATTERN.sub(" ", _strip_marks(text, PUNCTUATION)).split())


_normalized_name = lru_cache(1 << 16)(_normalize)
_normalized_text = lru_cache(64)(_normalize)


def answer_words(text: str) -> list[str]:
    """Return the words of a text for comparing answers word by word.

    Each letter of a script without blanks is a word, as in the scorers of DRCD and CMRC.

    >>> from core.languages.spelling import answer_words
    >>> answer_words("The Heron—a boat"), answer_words("在 PKU 北京。")
    (['heron', 'boat'], ['在', 'pku', '北', '京'])
    """
    words = normalize(text.translate(PAUSES) if not text.isascii() else text).split()
    if text.isascii() or not UNSPACED_LETTER.search(text):
        return words
    return [piece for word in words for piece in UNSPACED_WORD.findall(word)]


def contains_text(text: str, answer: str) -> bool:
    """Return whether a normalised text contains a normalised answer.

    A number is not found within another one: 12 is neither in 2012 nor in 12.5.

    >>> from core.languages.spelling import contains_text
    >>> (contains_text("on 31 may 1984", "1984"), contains_text("in 2012", "12"), contains_text("3.5 m", "3"),
    ...  contains_text("10⁶", "10"))
    (True, False, False, False)
    """
    start = text.find(answer)
    if start < 0 or not (answer[:1].isdigit() or answer[-1:].isdigit()):
        return start >= 0
    while start >= 0:
        if not _number_continues(text, start, start + len(answer)):
            return True
        start = text.find(answer, start + 1)
    return False


def contains_words(text: str, words: str) -> bool:
    """Return whether a text contains each of the words that a user typed to search.

    >>> from core.languages.spelling import contains_words
    >>> contains_words("Jo’Ann O’Neil", "o'neil JO"), contains_words("Ann", "ann bob")
    (True, False)
    """
    folded = fold(text)
    return all(word in folded for word in fold(words).split())


@lru_cache(1 << 10)
def row_pattern(answer: str) -> str:
    """Return an RE2 pattern that finds every text in which `contains_text` finds a normalised
    answer.

    It may find others. Case has to be ignored. It looks for the longest word, with any characters
    between its letters. It is empty where the answer has no letter.
    """
    words = ("".join(filter(str.isalnum, word)) for word in answer.split())
    word = max(words, key=len, default="")[:MAX_PATTERN_LETTERS]
    forms, letter_groups = _forms()
    optional = {
        index + offset
        for index in range(len(word))
        for size in (2, 3, 4)
        if word[index : index + size] in letter_groups
        for offset in range(1, size)
    }
    parts = []
    for index, letter in enumerate(word):
        base = unicodedata.normalize("NFD", letter)[0]
        several_forms = "".join(sorted({*forms.get(letter, ""), *forms.get(base, "")}))
        kind = f"[{letter}{base}{several_forms}]"
        parts.append(f"{kind}?" if index in optional else kind)
    return BETWEEN_LETTERS.join(parts)


@lru_cache(1)
def _forms() -> tuple[dict[str, str], frozenset[str]]:
    """Return the characters that are read as each letter, and the read forms of several letters."""
    forms_by_letter = {
        digit: [superscript, subscript]
        for digit, superscript, subscript in zip(PLAIN_DIGITS, RAISED_DIGITS, LOWERED_DIGITS)
    }
    forms_by_letter |= {
        superscript: [digit] for digit, superscript in zip(PLAIN_DIGITS, RAISED_DIGITS)
    }  # 10^6 is 10⁶
    letter_groups = set()
    for code in range(0x80, 0x1F200):
        sign = chr(code)
        is_decomposed = unicodedata.decomposition(sign).startswith("<")
        if not (
            is_decomposed or sign in PLAIN_SIGNS or sign.casefold() != sign or sign.isdecimal()
        ):
            continue
        letters = "".join(filter(str.isalnum, fold(sign)))
        if len(letters) > 1:
            letter_groups.add(letters)
        for letter in letters:
            forms_by_letter.setdefault(letter, []).append(sign)
    return {letter: "".join(signs) for letter, signs in forms_by_letter.items()}, frozenset(
        letter_groups
    )


def _strip_marks(text: str, punctuation: dict[int, int | None]) -> str:
    """Return a folded text without punctuation, its numbers written in one way."""
    if not text.isascii():
        text = fold(THIN_GROUP_SPACE.sub(",", text))
    else:
        text = text.lower()
    has_marks = MARKED_DIGIT.search(text) is not None
    if has_marks:
        text = _numbers(text)
    text = text.translate(punctuation) if text.isascii() else _drop_punctuation(text, punctuation)
    if has_marks:
        for sign, mark in RETAINED_SIGNS:
            text = text.replace(sign, mark)
    return text


def _drop_punctuation(text: str, punctuation: dict[int, int | None]) -> str:
    for sign in set(text):
        code = ord(sign)
        if (
            code in punctuation
            or code > 127
            and (unicodedata.category(sign)[0] == "P" or sign in "™®")
        ):
            text = text.replace(sign, "")
    return UNSPACED_GAP.sub("", text) if UNSPACED_LETTER.search(text) else text


def _numbers(text: str) -> str:
    """Return a folded text with numbers in one form; their marks become control characters."""
    if "^" in text:
        text = CARET_EXPONENT.sub(lambda match: match[1].translate(SUPERSCRIPTS), text)
    if "\n" in text:
        text = BULLET_DASH.sub(r"\1 ", text)
    text = MARKED_NUMBER.sub(_number, LEADING_POINT.sub("0.", text))
    text = MINUS_SIGN.sub(RETAINED_DASH, text)
    return BETWEEN_DIGITS.sub(" ", text)


def _number(match: re.Match[str]) -> str:
    """Return digits with marks between them in one form."""
    digits, marks = re.split(r"\D", match[0]), re.sub(r"\d", "", match[0])
    rest, last = marks[:-1], marks[-1]
    fraction = ""
    if last in ".," and last not in rest and (not rest or _is_grouped(digits[:-1], rest)):
        if rest or not _is_grouped(digits, marks):
            fraction, digits, marks = digits[-1], digits[:-1], rest
    if not marks or _is_grouped(digits, marks):
        integer = "".join(digits)
        return (
            integer
            if len(fraction) < 3 and not fraction.strip("0")
            else integer + RETAINED_POINT + fraction
        )
    if fraction or len(marks) > 1:
        parts = [*digits, fraction] if fraction else digits
        return RETAINED_DASH.join(parts)  # a date, a version, a telephone number
    sign = {"-": RETAINED_DASH, "~": RETAINED_DASH, "/": RETAINED_SLASH, ":": RETAINED_COLON}.get(
        marks, RETAINED_MARK
    )
    return sign.join(digits)


def _is_grouped(digits: list[str], marks: Iterable[str]) -> bool:
    """Return whether equal marks separate groups of three digits, or two and three as in India."""
    kinds = set(marks)
    if len(kinds) != 1 or not kinds <= {".", ",", "'"}:
        return False
    first, *middle, last = digits
    sizes = {len(one) for one in middle}
    return (
        len(last) == 3
        and 0 < len(first) <= 3
        and first[0] != "0"
        and (sizes <= {3} or sizes == {2} and kinds == {","})
    )


def _number_continues(text: str, start: int, end: int) -> bool:
    """Return whether the number at either edge of a span is part of a longer one."""
    if _is_digit(text[start]):
        prefix = text[max(0, start - MINUS_CONTEXT_CHARACTERS) : start]
        if _is_digit(prefix[-1:]) or prefix[-1:] == "." and _is_digit(prefix[-2:-1]):
            return True
        if prefix[-1:] == "-" and not _is_digit(prefix[:-1].rstrip()[-1:]):
            return prefix[-2:-1] in ("", " ")  # the mark is a minus
    suffix = text[end : end + 2]
    return _is_digit(text[end - 1]) and (
        _is_digit(suffix[:1]) or suffix[:1] == "." and _is_digit(suffix[1:2])
    )


def _is_digit(sign: str) -> bool:
    """Return whether a character is a digit, raised and lowered ones included."""
    return bool(sign) and (sign.isdigit() or sign in "⁻⁺")


def _replace_signs(text: str, invisible: bool = False) -> str:
    """Return a text with its characters replaced, each kind of them at once."""
    for sign in set(text):
        if sign > "\x7f" or sign == "`":
            plain_sign = ("" if _is_invisible(sign) else sign) if invisible else _plain_sign(sign)
            if plain_sign != sign:
                text = text.replace(sign, plain_sign)
    return text


@lru_cache(1 << 16)
def _is_invisible(sign: str) -> bool:
    """Return whether a character shows nothing: joiners, direction marks, variants of letters."""
    code = ord(sign)
    return (
        unicodedata.category(sign) == "Cf"
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
        or sign == "\u034f"
        or 0x180B <= code <= 0x180F
    )


@lru_cache(1 << 16)
def _plain_sign(sign: str) -> str:
    """Return the common form of a character, apart from case."""
    if sign in PLAIN_SIGNS:
        return PLAIN_SIGNS[sign]
    category = unicodedata.category(sign)
    if category == "Pd":
        return "-"
    if category == "Zs":
        return " "
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    kind, *codes = unicodedata.decomposition(sign).split() or [""]
    if (
        not kind.startswith("<")
        or kind in STABLE_FORMS
        or category == "Sk"
        or sign in NOT_DECOMPOSED
    ):
        return sign
    if category == "No" and kind != "<fraction>":
        return sign
    return "".join(map(_plain_sign, (chr(int(code, 16)) for code in codes)))
