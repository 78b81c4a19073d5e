"""Language detection by script, by function words, and by lingua where these are not decisive."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from core.languages.language import ENGLISH, Language, language, languages
from core.languages.scripts import letters_by_script, script_of

LETTERS_ONLY_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class DetectionDefaults:
    """Sample sizes and thresholds of language detection."""

    max_examined_letters: int = 4_000  # of a text
    max_examined_words: int = 200
    min_function_word_share: float = 0.25  # that decides alone
    min_share_ratio: float = 2.5  # of that share to the next language's
    min_language_score: float = 0.75  # of the chosen language
    min_score_lead: float = 0.25  # over the next language
    function_word_weight: float = 2.0  # of their share; lingua's confidence has weight 1
    max_question_words: int = 30  # of the longest text that may be one question
    min_detector_words: int = 3  # for which lingua is asked
    min_trusted_words: int = 10  # for which lingua is trusted without a function word
    sample_pieces: int = 40
    piece_letters: int = 600  # letters of a piece of a sample
    min_named_share: float = 0.15  # of a further language that is named


DETECTION = DetectionDefaults()


@dataclass(frozen=True)
class Detection:
    """The language of some texts by its code, empty where none was found.

    `shares` are the languages of the sample, from 0 to 1. `chosen` is true where a user chose the
    language.
    """

    code: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)
    chosen: bool = False

    @property
    def others(self) -> dict[str, float]:
        """The other languages of a considerable part of the sample, with their shares."""
        return {
            code: share
            for code, share in self.shares.items()
            if code != self.code and share >= DETECTION.min_named_share
        }

    @property
    def name(self) -> str:
        """The language's name; English where none was found, as it is the default."""
        entry = language(self.code or ENGLISH)
        return entry.name if entry is not None else self.code

    def words(self) -> str:
        """Return the language in a few words.

        Examples are “German”, “German, with 30 % English” and “German, as chosen”.
        """
        entry = language(self.code)
        if entry is None:
            return "not recognised, read as English"
        if self.chosen:
            return f"{entry.name}, as chosen"
        more = [
            f"{100 * share:.0f} % {languages()[code].name}"
            for code, share in self.others.items()
            if code in languages()
        ]
        return f"{entry.name}, with {' and '.join(more)}" if more else entry.name


def detect_language(texts: Sequence[str]) -> Detection:
    """Return the language of some texts, and the share of each language.

    At most 40 pieces of the texts are examined. Another language than English has to be that of
    more than half of the sample.

    >>> from core.languages import detect_language
    >>> detect_language(["Der Zug fährt nach Berlin.", "Die Stadt liegt an der Spree."]).code
    'de'
    """
    votes: Counter[str] = Counter()
    for part in _pieces(texts):
        votes[language_of(part)] += len(part)
    total = votes.total()
    shares = {
        code: round(count / total, 3) for code, count in votes.most_common() if code and count
    }
    best_code = next(iter(shares), "")
    # Unrecognised pieces count against other languages than English, which is the default.
    needed_votes = votes[""] if best_code == ENGLISH else total / 2
    return Detection(best_code if votes[best_code] > needed_votes else "", shares)


def _pieces(texts: Sequence[str]) -> Iterator[str]:
    """Yield pieces from texts spread over a list; several from each text if there are few."""
    each = max(1, DETECTION.sample_pieces // max(1, len(texts)))
    for index in range(0, len(texts), max(1, -(-len(texts) // DETECTION.sample_pieces))):
        text = texts[index]
        step = max(DETECTION.piece_letters, len(text) // each)
        yield from (
            text[start : start + DETECTION.piece_letters]
            for start in range(0, min(len(text), each * step), step)
        )


@lru_cache(maxsize=512)
def language_of_question(question: str, in_doubt: bool = True) -> str:
    """Return the code of a question's language; empty where it has too few words to tell.

    Without `in_doubt`, it is also empty where script and function words do not decide.

    >>> from core.languages import language_of_question
    >>> [language_of_question(one) for one
    ...     in ("Wer baute den Turm?", "北京大学位于哪里", "Кто построил мост?", "Rope")]
    ['de', 'zh', 'ru', '']
    """
    return language_of(question, in_doubt)


def language_of(text: str, in_doubt: bool = True) -> str:
    """Return the code of a text's language; empty where it cannot be told.

    A script that only one language has decides, and so does the question word at the beginning of a
    sentence. Otherwise it is the language whose function words are a quarter of the words, if no
    other has nearly as many. Otherwise, if `in_doubt`, it is the one with the best sum of lingua's
    confidence and twice the share of function words, if that leads clearly. A text of a few names
    has no language.
    """
    text = text[: DETECTION.max_examined_letters]
    candidates = _script_languages(_script(text))
    if len(candidates) < 2:
        return candidates[0].code if candidates else ""
    words = [
        word.casefold() for word in LETTERS_ONLY_WORD.findall(text)[: DETECTION.max_examined_words]
    ]
    asking_code = _asking_language(words, candidates)
    if asking_code:
        return asking_code
    shares = {
        one.code: sum(word in one.common for word in words) / max(1, len(words))
        for one in candidates
    }
    first, second = sorted(shares.values(), reverse=True)[:2]
    if first >= DETECTION.min_function_word_share and first >= DETECTION.min_share_ratio * second:
        return max(shares, key=lambda code: shares[code])
    return _confident_language(text, len(words), shares) if in_doubt else ""


def _asking_language(words: Sequence[str], candidates: Sequence[Language]) -> str:
    """Return the one language whose question word begins a question; empty if it is not one."""
    if not DETECTION.min_detector_words <= len(words) <= DETECTION.max_question_words:
        return ""
    codes = _asking_codes(words[0], candidates)
    return codes[0] if len(codes) == 1 else ""


def _confident_language(text: str, n_words: int, shares: Mapping[str, float]) -> str:
    """Return the language that leads clearly by confidence and share of function words."""
    confidences = _confidences(text) if n_words >= DETECTION.min_detector_words else {}
    scores = {
        code: confidences.get(code, 0.0) + DETECTION.function_word_weight * share
        for code, share in shares.items()
    }
    (best, top_score), (_, next_score) = sorted(scores.items(), key=lambda one: (-one[1], one[0]))[
        :2
    ]
    is_trusted = shares[best] or n_words >= DETECTION.min_trusted_words
    leads_clearly = (
        top_score >= DETECTION.min_language_score
        and top_score - next_score >= DETECTION.min_score_lead
    )
    return best if is_trusted and leads_clearly else ""


def _asking_codes(word: str, candidates: Sequence[Language]) -> list[str]:
    """Return the languages in which a word asks a question.

    If it is a function word of other languages, these are included, as the word is ambiguous.
    """
    by_phrase = [one.code for one in candidates if word in one.asks]
    return by_phrase + [
        one.code for one in candidates if word in one.words and one.code not in by_phrase
    ]


def _script(text: str) -> str:
    """Return the script by which a text is judged.

    A script other than the Latin one counts from a quarter of the letters, as such texts often
    contain Latin names.
    """
    counts = letters_by_script(text)
    other = max(counts.keys() - {"Latin", ""}, key=lambda name: (counts[name], name), default="")
    if script_of(text) == "Latin" and 4 * counts[other] >= counts.total():
        return "Kana" if counts["Kana"] and other == "Han" else other
    return script_of(text)


def _script_languages(script: str) -> list[Language]:
    return [one for one in languages().values() if one.script == script] if script else []


def _confidences(text: str) -> dict[str, float]:
    """Return lingua's confidence in each known language, by code; empty if it is not installed."""
    detector = _detector()
    if detector is None:
        return {}
    return {
        one.language.iso_code_639_1.name.lower(): one.value
        for one in detector.compute_language_confidence_values(text)
    }


@cache
def _detector() -> Any:
    """Return lingua's detector of the known languages; None where it is not installed.

    It uses the models of three letters, which take 40 MB instead of 600.
    """
    try:
        from lingua import IsoCode639_1, LanguageDetectorBuilder
    except ImportError:
        return None
    codes = [getattr(IsoCode639_1, code.upper()) for code in languages()]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*codes).with_low_accuracy_mode().build()


def is_english(code: str) -> bool:
    """Return whether a language is English or unknown, so that English resources are used."""
    return code in ("", ENGLISH)
