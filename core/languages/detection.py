"""The language of a text: by its script, by its function words, and where these leave several by lingua."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from core.languages.language import ENGLISH, Language, language, languages
from core.languages.scripts import letters_by_script, script_of

WORD = re.compile(r"[^\W\d_]+")
LETTERS, WORDS = 4_000, 200  # of a text that are looked at
# the share of function words that decides alone, where no other language has more than that part of it
PLAIN, LEAD = (0.25, 2.5)
# the score from which a language is found, and how far the next one must be behind
SURE, AHEAD = (0.75, 0.25)
COMMON_WEIGHT = 2.0  # of the share of function words, beside lingua's confidence, which is 0 to 1
SENTENCE = 30  # words of a text that may be one question
# words from which lingua is asked, and from which it is believed where none is a function word of its language
SHORT, LONG = (3, 10)
# pieces of a sample, their letters; the share of a language from which it is named beside the first
PARTS, PART, LEAST_PART = (40, 600, 0.15)


@dataclass(frozen=True)
class Found:
    """The language of some texts by its code, empty where none was found; `shares` are the languages of the sample, 0 to 1. It is
    `chosen` where a person said which one it is."""

    code: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)
    chosen: bool = False

    @property
    def others(self) -> dict[str, float]:
        """The other languages that a good part of the sample is in, with their shares."""
        return {
            code: share
            for code, share in self.shares.items()
            if code != self.code and share >= LEAST_PART
        }

    @property
    def name(self) -> str:
        """Its name; English where none was found, as the texts are read so."""
        known = language(self.code or ENGLISH)
        return known.name if known is not None else self.code

    def words(self) -> str:
        """It in a few words: `German`, `German, with 30 % English`, `German, as chosen`."""
        known = language(self.code)
        if known is None:
            return "not recognised, read as English"
        if self.chosen:
            return f"{known.name}, as chosen"
        more = [
            f"{100 * share:.0f} % {languages()[code].name}"
            for code, share in self.others.items()
            if code in languages()
        ]
        return f"{known.name}, with {' and '.join(more)}" if more else known.name


def found_in(texts: Sequence[str]) -> Found:
    """The language of some texts, by at most 40 pieces of them, and the share of each language; one other than English is that of
    more than half of them.

    >>> from core.languages import found_in
    >>> found_in(["Der Zug fährt nach Berlin.", "Die Stadt liegt an der Spree."]).code
    'de'
    """
    votes: Counter[str] = Counter()
    for part in _pieces(texts):
        votes[language_of(part)] += len(part)
    total = votes.total()
    shares = {
        code: round(count / total, 3) for code, count in votes.most_common() if code and count
    }
    best = next(iter(shares), "")
    # for another reading than the English one most of the sample must speak
    needed = votes[""] if best == ENGLISH else total / 2
    return Found(best if votes[best] > needed else "", shares)


def _pieces(texts: Sequence[str]) -> Iterator[str]:
    """Pieces from the beginning of texts all over a list; of few texts several of each."""
    each = max(1, PARTS // max(1, len(texts)))
    for at in range(0, len(texts), max(1, -(-len(texts) // PARTS))):
        text = texts[at]
        step = max(PART, len(text) // each)
        yield from (
            text[start : start + PART] for start in range(0, min(len(text), each * step), step)
        )


@lru_cache(maxsize=512)
def language_of_question(question: str, in_doubt: bool = True) -> str:
    """The code of the language that a question is in; empty where its words are too few to say, or without `in_doubt` where its script and
    function words do not decide it.

    >>> from core.languages import language_of_question
    >>> [language_of_question(one) for one in ("Wer baute den Turm?", "北京大学位于哪里", "Кто построил мост?", "Rope")]
    ['de', 'zh', 'ru', '']
    """
    return language_of(question, in_doubt)


def language_of(text: str, in_doubt: bool = True) -> str:
    """The code of the language that a text is in; empty where that cannot be said.

    A script of one language alone tells it, or the question word with which a sentence begins. Else it is the one whose function words make
    a quarter of the words, where no other has nearly as many; else, `in_doubt`, the one with the best sum of lingua's confidence and twice
    the share of function words, where that leads clearly. A few names are in no language.
    """
    text = text[:LETTERS]
    candidates = _written_in(_script(text))
    if len(candidates) < 2:
        return candidates[0].code if candidates else ""
    words = [word.casefold() for word in WORD.findall(text)[:WORDS]]
    asks = _asked_in(words[0], candidates) if len(words) >= SHORT else []
    if len(words) <= SENTENCE and len(asks) == 1:
        return asks[0]
    shares = {
        one.code: sum(word in one.common for word in words) / max(1, len(words))
        for one in candidates
    }
    first, second = sorted(shares.values(), reverse=True)[:2]
    if first >= PLAIN and first >= LEAD * second:
        return max(shares, key=lambda code: shares[code])
    if not in_doubt:
        return ""
    sure = _confidences(text) if len(words) >= SHORT else {}
    scores = {code: sure.get(code, 0.0) + COMMON_WEIGHT * share for code, share in shares.items()}
    (best, most), (_, next_most) = sorted(scores.items(), key=lambda one: (-one[1], one[0]))[:2]
    believed = shares[best] or len(words) >= LONG
    return best if believed and most >= SURE and most - next_most >= AHEAD else ""


def _asked_in(word: str, candidates: Sequence[Language]) -> list[str]:
    """The languages in which a word asks; all of those in which it has a meaning where it is a function word of another."""
    asked = [one.code for one in candidates if word in one.asks]
    return asked + [one.code for one in candidates if word in one.words and one.code not in asked]


def _script(text: str) -> str:
    """The script by which a text is judged: one other than the Latin one from a quarter of the letters on, as names are often in that."""
    counts = letters_by_script(text)
    other = max(counts.keys() - {"Latin", ""}, key=lambda name: (counts[name], name), default="")
    if script_of(text) == "Latin" and 4 * counts[other] >= counts.total():
        return "Kana" if counts["Kana"] and other == "Han" else other
    return script_of(text)


def _written_in(script: str) -> list[Language]:
    return [one for one in languages().values() if one.script == script] if script else []


def _confidences(text: str) -> dict[str, float]:
    """What lingua gives each known language, by code; nothing where it is not installed."""
    detector = _detector()
    if detector is None:
        return {}
    return {
        one.language.iso_code_639_1.name.lower(): one.value
        for one in detector.compute_language_confidence_values(text)
    }


@cache
def _detector() -> Any:
    """lingua's detector of the known languages, by models of three letters at a time: 40 MB in place of 600; None where it is absent."""
    try:
        from lingua import IsoCode639_1, LanguageDetectorBuilder
    except ImportError:
        return None
    codes = [getattr(IsoCode639_1, code.upper()) for code in languages()]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*codes).with_low_accuracy_mode().build()


def is_english(code: str) -> bool:
    """Whether a language is English, or was not found, so that what is made for English serves."""
    return code in ("", ENGLISH)
