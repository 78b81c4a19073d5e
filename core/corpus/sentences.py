"""Splitting of a text into sentences by punctuation, abbreviations and ordinal numbers."""

from __future__ import annotations

import re
from functools import cache

from core.languages import language

Span = tuple[int, int]  # start and end in characters
CLOSING_MARKS = "\"'”’»)\\]」』）】》〉"
SENTENCE_BREAK_MARKS = re.compile(
    rf"(?<![.!?…؟۔।॥])[.!?…؟۔।॥]++[{CLOSING_MARKS}]*+(?=\s)|[。！？｡．]+[{CLOSING_MARKS}]*|\n[^\S\n]*(?=\n)"
)
ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|cf|etc|e\.g|i\.e|al|"
    r"No|Nos|Fig|Figs|Eq|Sec|Vol|Inc|Ltd|Co|Corp|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Oct|Nov|Dec|"
    r"approx|Gen|Col|Capt|Lt|Rev|Hon|Messrs|pp|U\.S|U\.K)$"
)
MAX_ABBREVIATION_CHARACTERS = 12  # with the sign before it; so far back it is searched
ORDINAL_NUMBER = re.compile(r"(?:^|\s)\d{1,2}$")  # "am 3. Oktober"
# Languages that write ordinal numbers with a full stop
ORDINAL_LANGUAGES = ("de", "da", "nb", "fi", "cs", "hu", "pl")
NEXT_WORD = re.compile(r"\s*[\"'“‘(\[«]*(\w)")


def sentence_spans(text: str, code: str = "") -> list[Span]:
    """Return the start and end of each sentence in characters, without outer blanks.

    A sentence ends after a full stop, question mark or exclamation mark, with closing quotes, if a
    blank follows. It also ends after a Chinese or Japanese mark, and before an empty line. A full
    stop does not end it after a common abbreviation or an initial, or if the next word begins with
    a small letter.

    Parameters
    ----------
    text : the text.
    code : code of its language, which adds abbreviations and ordinal numbers; empty for English.

    Returns
    -------
    Start and end of each sentence that is not blank.

    Examples
    --------
    >>> from core.corpus.sentences import sentence_spans
    >>> text = "Dr. Li came. “Why?” she asked. 天气很好。我们走吧！"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Li came.', '“Why?” she asked.', '天气很好。', '我们走吧！']
    >>> text = "Am 3. Oktober fuhr sie bzw. Er blieb. Gut."
    >>> [text[start:end] for start, end in sentence_spans(text, "de")]
    ['Am 3. Oktober fuhr sie bzw. Er blieb.', 'Gut.']
    """
    ends = [
        match.end()
        for match in SENTENCE_BREAK_MARKS.finditer(text)
        if _is_sentence_end(text, match, code)
    ]
    pairs = zip([0, *ends], [*ends, len(text)])
    spans = [_strip_span(text, start, end) for start, end in pairs]
    return [(start, end) for start, end in spans if start < end]


def _is_sentence_end(text: str, match: re.Match[str], code: str) -> bool:
    """Return whether the matched marks end a sentence."""
    marks = match.group()
    if marks[0] not in ".!?…":
        return True
    if marks == ".":
        end = match.start()
        start = max(0, end - MAX_ABBREVIATION_CHARACTERS)
        if any(pattern.search(text, start, end) for pattern in _unfinished_patterns(code)):
            return False
    following = NEXT_WORD.match(text, match.end())
    return not (following and following.group(1).islower())


@cache
def _unfinished_patterns(code: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns of words before a full stop inside a sentence.

    After these words, a full stop does not end a sentence in the language.
    """
    patterns = [ABBREVIATION]
    entry = language(code)
    if entry is not None and entry.abbreviations:
        patterns.append(
            re.compile(
                rf"(?:^|[\s(\"'“‘„«])(?:{'|'.join(re.escape(word) for word in entry.abbreviations)})$"
            )
        )
    if code in ORDINAL_LANGUAGES:
        patterns.append(ORDINAL_NUMBER)
    return tuple(patterns)


def _strip_span(text: str, start: int, end: int) -> Span:
    """Return a span without the blanks at its start and end."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - (len(part) - len(part.rstrip()))
