"""Normal forms of texts, in which different spellings are equal.

Names, answers, titles and search words are compared in one of these forms:

===============  =======================================================================
`fold`           without case and typography; letters, accents and punctuation stay
`strip_accents`  as `fold`, without accents
`name_key`       as `fold`, without punctuation; one way to write a number
`normalize`      as `name_key`, without the words a, an, the and ASCII symbols (SQuAD)
`answer_words`   the words of `normalize`; in scripts without spaces, each letter is one
===============  =======================================================================

Notes
-----
`fold` does not distinguish kinds of quotation marks, apostrophes, dashes and spaces; composed and
decomposed letters; compatibility forms (full-width letters, ligatures, presentation forms) and
their plain letters; and decimal digits of different scripts. Invisible characters, and the vowel
signs of Arabic and Hebrew, are removed. Dotted and dotless I of Turkish are one letter.

Different values stay different. Superscripts stay superscripts: x² is not x2 and 10⁶ is not 106,
but 10^6 is 10⁶. Subscripts after a letter become digits (CO₂ is CO2), others stay. A fraction
becomes its numerator, a slash and its denominator (½ is 1/2). Circled and bracketed numbers stay.

A mark between two digits stays if it changes the number: 3.5 is 3,5 and not 35, and 5-10 is not
510. Marks that group thousands are removed, and so are decimals that are all zeros (1984.0 is
1984).
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, product

from core.languages.scripts import SCRIPTS, UNSPACED_LETTER, UNSPACED_LETTERS

# Texts of at most this length have a large cache of normal forms, longer ones a small cache.
MAX_CACHED_CHARACTERS = 200
# Characters before a number that are read to distinguish a minus from a dash.
MINUS_CONTEXT_CHARACTERS = 16
# From this many letters on, a name may have the s of a genitive or plural.
MIN_INFLECTED_LETTERS = 4
# Letters of the word in a `row_pattern`.
MAX_PATTERN_LETTERS = 24
# The search for characters that fold to letters ends here, behind the block of enclosed letters.
FOLDED_CODES_END = 0x1F200

# Marks over and under the letters of the scripts below U+1A00.
COMBINING_MARKS = "".join(
    chr(code) for code in range(0x0300, 0x1A00) if unicodedata.category(chr(code)) in ("Mn", "Mc")
)
# Vowel signs and the lengthening sign of Arabic and Hebrew, which are seldom written.
OPTIONAL_MARKS = re.compile("[\u0640\u0610-\u061a\u064b-\u065f\u0670\u0591-\u05bd\u05bf-\u05c7]")

# The last six: Greek (two), languages of Mexico (two), Armenian, Hebrew.
APOSTROPHES = "'`´‘’‚‛′‵ʹʻʼʽʾʿ\u1fbd\u1fbfꞋꞌ՚׳"
QUOTE_SIGNS = "“”„‟«»″‶〝〞〟״"
# The plain form of other signs, quotation marks and letters.
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
NOT_DECOMPOSED = "\u0e33\u0eb3"  # the vowel “am” of Thai and Lao, which counts as one letter
PLAIN_DIGITS = "0123456789"
RAISED_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
LOWERED_DIGITS = "₀₁₂₃₄₅₆₇₈₉"
SUPERSCRIPTS = str.maketrans(f"{PLAIN_DIGITS}+-", f"{RAISED_DIGITS}⁺⁻")
SUBSCRIPTS = str.maketrans(LOWERED_DIGITS, PLAIN_DIGITS)
SUBSCRIPT_NUMBER = re.compile("(?<=[^\\W\\d_])[₀-₉]+(?![0-9])")  # subscripts after a letter
# Invisible characters that may be within a letter cluster; `_is_invisible` has all of them.
CLUSTER_INVISIBLES = (
    "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
)
# Marks of a letter cluster, also those of symbols and of Japanese.
CLUSTER_MARKS = f"{COMBINING_MARKS}\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\uff9e\uff9f"
# A letter with the marks on it, which `fold` reads as a unit.
LETTER_CLUSTER = re.compile(
    f"[^\\W\\d_][{CLUSTER_MARKS}{CLUSTER_INVISIBLES}]*[₀-₉]+(?![0-9])"
    f"|.[{CLUSTER_MARKS}{CLUSTER_INVISIBLES}]*",
    re.DOTALL,
)
MARKED_LETTER = rf"(?:[^\W_]|[{CLUSTER_MARKS}{CLUSTER_INVISIBLES}])"
FRACTIONS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒↉⅟"
# Between the whole number and the fraction of a number such as 2½.
MIXED_NUMBER = re.compile(f"(?<=[0-9])(?=[{FRACTIONS}])")
# A narrow or unbreakable space that groups thousands.
THIN_GROUP_SPACE = re.compile("(?<=[0-9])[\u00a0\u2007\u2009\u202f](?=[0-9]{3}(?![0-9]))")

# Patterns of numbers with marks, for folded text.
MARKED_DIGIT = re.compile(r"[!-/:-@\[-`{-~][0-9]")
CARET_EXPONENT = re.compile(r"\^\{?([+-]?[0-9]+)\}?")
MARKED_NUMBER = re.compile(r"[0-9]+(?:[.,'/:~-][0-9]+)+")
BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[!-/:-@\[-`{-~]+(?=[0-9])")
MINUS_SIGN = re.compile(r"(?<![\w.)\]'\"%-])-(?=\.?[0-9])")
LEADING_POINT = re.compile(r"(?<![^\s(\[$+-])\.(?=[0-9])")  # point of a decimal such as .5
BULLET_DASH = re.compile(r"^(\s*)-(?=[0-9])", re.MULTILINE)
# Control characters, which no text has, stand for marks of numbers while punctuation is deleted.
RETAINED_POINT = "\x01"
RETAINED_DASH = "\x02"
RETAINED_SLASH = "\x03"
RETAINED_COLON = "\x04"
RETAINED_MARK = "\x05"
RETAINED_SIGNS = (
    (RETAINED_POINT, "."),
    (RETAINED_DASH, "-"),
    (RETAINED_SLASH, "/"),
    (RETAINED_COLON, ":"),
    (RETAINED_MARK, "'"),
)
# Marks between two numbers; others become `RETAINED_MARK`.
RETAINED_NUMBER_MARKS = {
    "-": RETAINED_DASH,
    "~": RETAINED_DASH,
    "/": RETAINED_SLASH,
    ":": RETAINED_COLON,
}

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
PAUSES = str.maketrans(dict.fromkeys("—―…", " "))  # marks that separate words without a space
# Letters on which other words are written: of scripts without spaces, and of those with particles.
ATTACHING_LETTER = re.compile(
    f"[{UNSPACED_LETTERS}{SCRIPTS['Arabic']}{SCRIPTS['Hebrew']}{SCRIPTS['Hangul']}]"
)
_JOINING_SIGNS = f"[{re.escape(string.punctuation + APOSTROPHES + QUOTE_SIGNS)}‐‑‒–—―…]+"
# Signs between two words, one of at least two letters: not those of an abbreviation or a number.
WORD_JOINT = re.compile(
    rf"(?<=[^\W\d_]{{2}}){_JOINING_SIGNS}(?=\w)|(?<=\w){_JOINING_SIGNS}(?=[^\W\d_]{{2}})"
)


def fold(text: str) -> str:
    """Return a text without case and typography; see the notes of this module.

    >>> from core.languages.spelling import fold
    >>> fold("O’Neil") == fold("o'NEIL"), fold("ＡＢＣ‑１"), fold("10⁶"), fold("CO₂")
    (True, 'abc-1', '10⁶', 'co2')
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    return unicodedata.normalize("NFC", strip_typography(text).casefold().replace("i\u0307", "i"))


def strip_typography(text: str) -> str:
    """Return a text with plain signs and digits. Case, letters and accents stay.

    >>> from core.languages.spelling import strip_typography
    >>> strip_typography("“Ann” O’Neil") == strip_typography('"Ann" O`Neil'), strip_typography("Stone–Hill")
    (True, 'Stone-Hill')
    """
    if text.isascii():
        return text.replace("`", "'")
    signs = _signs(text)
    visible_text = unicodedata.normalize("NFC", _replace_signs(text, signs, _visible_sign))
    if visible_text != text:
        text, signs = visible_text, _signs(visible_text)
    # Few texts have the following signs, so a pattern is used only on a text that has them.
    if not signs.isdisjoint(LOWERED_DIGITS):
        text = SUBSCRIPT_NUMBER.sub(lambda match: match[0].translate(SUBSCRIPTS), text)
    if OPTIONAL_MARKS.search("".join(signs)):
        text = OPTIONAL_MARKS.sub("", text)
    if not signs.isdisjoint(FRACTIONS):
        text = MIXED_NUMBER.sub(" ", text)
    text = _replace_signs(text, signs, _plain_sign)
    # The vowel “am” of Thai and Lao may be written as two letters.
    return text.replace("\u0e4d\u0e32", "\u0e33").replace("\u0ecd\u0eb2", "\u0eb3")


def fold_with_offsets(text: str) -> tuple[str, Sequence[int]]:
    """Return a folded text with the original offset of each character.

    The last offset is the length of the original text. The text is folded letter by letter, so “2½”
    becomes “21/2”, not “2 1/2” as by `fold`.

    >>> from core.languages.spelling import fold_with_offsets
    >>> fold_with_offsets("ﬁ ﬂ")
    ('fi fl', [0, 0, 1, 2, 2, 3])
    """
    if text.isascii():
        return fold(text), range(len(text) + 1)
    folded_clusters: list[str] = []
    offsets: list[int] = []
    for cluster in LETTER_CLUSTER.finditer(text):
        folded = fold(cluster[0])
        folded_clusters.append(folded)
        offsets += [cluster.start()] * len(folded)
    return "".join(folded_clusters), [*offsets, len(text)]


def end_offset(offsets: Sequence[int], end: int) -> int:
    """Return the original offset at which the folded text before `end` ends.

    `offsets` are those of `fold_with_offsets`. `end` is at least 1.
    """
    last = offsets[end - 1]
    while offsets[end] == last:
        end += 1
    return offsets[end]


def strip_accents(text: str) -> str:
    """Return a text without case, typography and accents. Punctuation and spaces stay.

    >>> from core.languages.spelling import strip_accents
    >>> strip_accents("Café Noir"), strip_accents("C++"), strip_accents("x²")
    ('cafe noir', 'c++', 'x²')
    """
    folded = fold(text)
    if folded.isascii():
        return folded
    letters = unicodedata.normalize("NFD", folded)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def spelling_variants(name: str) -> list[str]:
    """Return spellings of a name with straight and typographic apostrophes and dashes.

    The given spelling is the first. Databases need them, as they compare characters exactly.

    >>> from core.languages.spelling import spelling_variants
    >>> spelling_variants("Ann"), spelling_variants("O'Neil"), len(spelling_variants("Jo’Ann Stone–Hill"))
    (['Ann'], ["O'Neil", 'O’Neil'], 6)
    """
    plain_name = unicodedata.normalize("NFC", strip_typography(name))
    forms = [name]
    for apostrophe in "'’":
        for dash in "-\u2011–":
            form = plain_name.replace("'", apostrophe).replace("-", dash)
            forms += [form, unicodedata.normalize("NFD", form)]
    return list(dict.fromkeys(forms))


def name_key(name: str) -> str:
    """Return a key that is equal for similar spellings of names.

    They may differ in case, typography and punctuation. Symbols that are part of names stay, as in
    C++ and C#. The key is empty for a name without any letter, digit or symbol.

    >>> from core.languages.spelling import name_key
    >>> name_key("The “Spider–Rock”, No. 2"), name_key("C++"), name_key("1984.0"), name_key("3.5")
    ('the spiderrock no 2', 'c++', '1984', '3.5')
    """
    return " ".join(_strip_marks(name, NAME_PUNCTUATION).split())


def normalize(text: str) -> str:
    """Return a text in the form in which answers are compared.

    Case and typography are folded. Punctuation of all scripts and ASCII symbols are deleted, then
    the words a, an, the. Several spaces become one, and spaces between letters of scripts without
    spaces between words are removed. Deleting punctuation joins words: "U.S." becomes "us". For
    ASCII texts this is SQuAD's normalisation, except for numbers and their marks.

    >>> from core.languages.spelling import normalize
    >>> normalize("The U.S."), normalize("“The Heron”"), normalize("北京大学。"), normalize("1,984.0")
    ('us', 'heron', '北京大学', '1984')
    """
    return _normalize_short(text) if len(text) <= MAX_CACHED_CHARACTERS else _normalize_long(text)


def _normalize(text: str) -> str:
    return " ".join(ARTICLE_PATTERN.sub(" ", _strip_marks(text, PUNCTUATION)).split())


_normalize_short = lru_cache(1 << 16)(_normalize)
_normalize_long = lru_cache(64)(_normalize)


def answer_words(text: str) -> list[str]:
    """Return the words of a text for comparing answers word by word.

    Each letter of a script without spaces between words is a word, as in the scorers of DRCD and
    CMRC.

    >>> from core.languages.spelling import answer_words
    >>> answer_words("The Heron—a boat"), answer_words("在 PKU 北京。")
    (['heron', 'boat'], ['在', 'pku', '北', '京'])
    """
    if text.isascii():
        return normalize(text).split()
    words = normalize(text.translate(PAUSES)).split()
    if not UNSPACED_LETTER.search(text):
        return words
    return list(chain(*map(UNSPACED_WORD.findall, words)))


def contains_text(text: str, answer: str) -> bool:
    """Return whether a normalised text contains a normalised answer.

    A number is not found within another one: 12 is neither in 2012 nor in 12.5.

    >>> from core.languages.spelling import contains_text
    >>> (contains_text("on 31 may 1984", "1984"), contains_text("in 2012", "12"), contains_text("3.5 m", "3"),
    ...  contains_text("10⁶", "10"))
    (True, False, False, False)
    """
    start = text.find(answer)
    if not (answer[:1].isdigit() or answer[-1:].isdigit()):
        return start >= 0
    while start >= 0:
        if not _number_continues(text, start, start + len(answer)):
            return True
        start = text.find(answer, start + 1)
    return False


def contains_whole(text: str, name: str) -> bool:
    """Return whether a text contains a name that is no part of a longer word or number.

    The text is searched as `normalize` joins its words, and with a space in each joint. In scripts
    without spaces between words, and in Arabic, Hebrew and Korean, a name may be part of a word. A
    name of four letters or more may have an s at its end, as in a German genitive or a plural.

    >>> from core.languages.spelling import contains_whole
    >>> [contains_whole(text, "Bo") for text in ("the harbour", "Bo's boat", "Bo-Ann", "Bob")]
    [False, True, True, False]
    >>> contains_whole("Londons Brücken", "London"), contains_whole("Marsch", "Mars")
    (True, False)
    >>> contains_whole("在北京大学。", "北京"), contains_whole("the U.S.-led army", "U.S.")
    (True, True)
    """
    searched = normalize(name)
    if not searched or not contains_text(normalize(text), searched):
        return False
    forms = ((text, name), (WORD_JOINT.sub(" ", text), WORD_JOINT.sub(" ", name)))
    return any(_contains_words(normalize(text), normalize(name)) for text, name in forms)


def _contains_words(text: str, name: str) -> bool:
    """Return whether a normalised text contains a normalised name at word boundaries."""
    start = text.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        end += len(name) >= MIN_INFLECTED_LETTERS and text.startswith("s", end)
        is_inside = _number_continues(text, start, end) or _word_continues(text, start)
        if not (is_inside or _word_continues(text, end)):
            return True
        start = text.find(name, start + 1)
    return False


def _word_continues(text: str, index: int) -> bool:
    """Return whether two letters of one word meet at an index."""
    signs = text[max(0, index - 1) : index + 1]
    are_letters = len(signs) == 2 and all(unicodedata.category(sign)[0] in "LM" for sign in signs)
    return index > 0 and are_letters and not ATTACHING_LETTER.search(signs)


def contains_words(text: str, words: str) -> bool:
    """Return whether a text contains each of some search words.

    >>> from core.languages.spelling import contains_words
    >>> contains_words("Jo’Ann O’Neil", "o'neil JO"), contains_words("Ann", "ann bob")
    (True, False)
    """
    folded = fold(text)
    return all(word in folded for word in fold(words).split())


@lru_cache(1 << 10)
def row_pattern(answer: str) -> str:
    """Return a regular expression of RE2 that selects texts which may contain an answer.

    The expression matches every text in which `contains_text` finds the normalised answer, and some
    others. It matches the answer's longest word, with signs allowed between its letters, and must
    be used without case. It is empty if the answer has no letter or digit.
    """
    words = ("".join(filter(str.isalnum, word)) for word in answer.split())
    word = max(words, key=len, default="")[:MAX_PATTERN_LETTERS]
    forms, letter_groups = _letter_forms()
    # Indices of letters that may be missing, as a ligature may stand for them and the one before.
    optional: set[int] = set()
    for index, size in product(range(len(word)), (2, 3, 4)):
        if word[index : index + size] in letter_groups:
            optional.update(range(index + 1, index + size))
    parts = []
    for index, letter in enumerate(word):
        base = unicodedata.normalize("NFD", letter)[0]
        other_forms = "".join(sorted({*forms.get(letter, ""), *forms.get(base, "")}))
        letter_class = f"[{letter}{base}{other_forms}]"
        parts.append(f"{letter_class}?" if index in optional else letter_class)
    return BETWEEN_LETTERS.join(parts)


@lru_cache(1)
def _letter_forms() -> tuple[dict[str, str], frozenset[str]]:
    """Return the other characters that fold to each letter, and groups of letters.

    A group has the several letters to which one character folds, such as a ligature.
    """
    forms_by_letter = {}
    for digit, superscript, subscript in zip(PLAIN_DIGITS, RAISED_DIGITS, LOWERED_DIGITS):
        forms_by_letter[digit] = [superscript, subscript]
        forms_by_letter[superscript] = [digit]  # 10^6 is 10⁶
    letter_groups = set()
    for code in range(0x80, FOLDED_CODES_END):  # from the first code behind ASCII
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
    forms = {letter: "".join(signs) for letter, signs in forms_by_letter.items()}
    return forms, frozenset(letter_groups)


def _strip_marks(text: str, punctuation: dict[int, int | None]) -> str:
    """Return a folded text without punctuation, with its numbers in one form."""
    if not text.isascii():
        text = fold(THIN_GROUP_SPACE.sub(",", text))
    else:
        text = text.lower()
    has_marks = MARKED_DIGIT.search(text) is not None
    if has_marks:
        text = _normalize_numbers(text)
    text = text.translate(punctuation) if text.isascii() else _drop_punctuation(text, punctuation)
    if has_marks:
        for sign, mark in RETAINED_SIGNS:
            text = text.replace(sign, mark)
    return text


def _drop_punctuation(text: str, punctuation: dict[int, int | None]) -> str:
    """Delete the given ASCII punctuation, all other punctuation, and gaps in unspaced scripts."""
    for sign in set(text):
        is_punctuation = unicodedata.category(sign)[0] == "P" or sign in "™®"
        if ord(sign) in punctuation or (is_punctuation and not sign.isascii()):
            text = text.replace(sign, "")
    return UNSPACED_GAP.sub("", text) if UNSPACED_LETTER.search(text) else text


def _normalize_numbers(text: str) -> str:
    """Return a folded text with numbers in one form, marked by control characters."""
    if "^" in text:
        text = CARET_EXPONENT.sub(lambda match: match[1].translate(SUPERSCRIPTS), text)
    if "\n" in text:
        text = BULLET_DASH.sub(r"\1 ", text)
    text = MARKED_NUMBER.sub(_normalize_number, LEADING_POINT.sub("0.", text))
    text = MINUS_SIGN.sub(RETAINED_DASH, text)
    return BETWEEN_DIGITS.sub(" ", text)


def _normalize_number(match: re.Match[str]) -> str:
    """Return a number, or several numbers with marks between them, in one form.

    A last mark is a decimal point unless the marks group thousands: 1,234 is 1234, but 1,23 is
    1.23.
    """
    digits = re.split(r"\D", match[0])
    marks = re.sub(r"\d", "", match[0])
    first_marks, last_mark = marks[:-1], marks[-1]
    is_last_grouped = not first_marks and _is_grouped(digits, marks)
    is_decimal = (
        last_mark in ".,"
        and last_mark not in first_marks
        and not is_last_grouped
        and (not first_marks or _is_grouped(digits[:-1], first_marks))
    )
    fraction = ""
    if is_decimal:
        fraction = digits.pop()
        marks = first_marks
    if not marks or _is_grouped(digits, marks):
        integer = "".join(digits)
        has_only_zeros = len(fraction) < 3 and not fraction.strip("0")
        return integer if has_only_zeros else integer + RETAINED_POINT + fraction
    if len(marks) > 1:
        return RETAINED_DASH.join(digits)  # a date, a version, a telephone number
    return RETAINED_NUMBER_MARKS.get(marks, RETAINED_MARK).join(digits)


def _is_grouped(digits: list[str], marks: Iterable[str]) -> bool:
    """Return whether equal marks group digits by three, or as in India."""
    kinds = set(marks)
    if len(kinds) != 1 or not kinds <= {".", ",", "'"}:
        return False
    first, *middle, last = digits
    sizes = set(map(len, middle))
    return (
        len(last) == 3
        and 0 < len(first) <= 3
        and first[0] != "0"
        and (sizes <= {3} or (sizes == {2} and kinds == {","}))
    )


def _number_continues(text: str, start: int, end: int) -> bool:
    """Return whether a number continues beyond a span.

    The number at either edge of the span is then part of a longer one.
    """
    if _is_digit(text[start]):
        prefix = text[max(0, start - MINUS_CONTEXT_CHARACTERS) : start]
        if _is_digit(prefix[-1:]) or (prefix[-1:] == "." and _is_digit(prefix[-2:-1])):
            return True
        has_dash = prefix[-1:] == "-" and not _is_digit(prefix[:-1].rstrip()[-1:])
        if has_dash and prefix[-2:-1] in ("", " "):
            return True  # the dash is a minus
    if not _is_digit(text[end - 1]):
        return False
    suffix = text[end : end + 2]
    return _is_digit(suffix[:1]) or (suffix[:1] == "." and _is_digit(suffix[1:2]))


def _is_digit(sign: str) -> bool:
    """Return whether a character is a digit of any height, or a raised sign."""
    return bool(sign) and (sign.isdigit() or sign in "⁻⁺")


def _signs(text: str) -> set[str]:
    """Return the characters of a text that are no plain ASCII.

    They are all different characters that are not in ASCII, and the backtick.
    """
    return {sign for sign in set(text) if sign > "\x7f" or sign == "`"}


def _replace_signs(text: str, signs: Iterable[str], replacement: Callable[[str], str]) -> str:
    """Return a text with some characters replaced."""
    for sign in signs:
        new_sign = replacement(sign)
        if new_sign != sign:
            text = text.replace(sign, new_sign)
    return text


@lru_cache(1 << 16)
def _visible_sign(sign: str) -> str:
    """Return a character; empty for joiners, direction marks and variation selectors."""
    code = ord(sign)
    is_invisible = (
        unicodedata.category(sign) == "Cf"
        or 0xFE00 <= code <= 0xFE0F  # variation selectors
        or 0xE0100 <= code <= 0xE01EF  # variation selectors of Chinese characters
        or sign == "\u034f"  # combining grapheme joiner
        or 0x180B <= code <= 0x180F  # variation selectors of Mongolian
    )
    return "" if is_invisible else sign


@lru_cache(1 << 16)
def _plain_sign(sign: str) -> str:
    """Return the plain form of a character; its case stays."""
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
