"""Language detection by script, function words and, in doubt, lingua.

The language of a corpus, graph or question selects its stemmer, stop words and models.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.languages.language import ENGLISH, Language, language, languages
from core.languages.scripts import count_letters, find_script

LETTERS_ONLY_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class DetectionDefaults:
    """Sample sizes and thresholds of language detection."""

    max_examined_letters: int = 4_000  # of a text
    max_examined_words: int = 200  # of a text
    # The share of function words decides alone if it is at least this large, and this many times
    # that of the next language.
    min_function_word_share: float = 0.25
    min_share_ratio: float = 2.5
    # The score is lingua's confidence, plus the share of function words times its weight.
    function_word_weight: float = 2.0
    min_language_score: float = 0.75
    min_score_lead: float = 0.25  # over the score of the next language
    max_question_words: int = 30  # of a text whose first word may decide
    min_detector_words: int = 3  # of a text for which lingua, or the first word, is used
    min_trusted_words: int = 10  # of a text without function words for which lingua is used
    sample_pieces: int = 40  # examined of a collection of texts
    piece_letters: int = 600
    min_named_share: float = 0.15  # of the sample, from which another language is named


DETECTION = DetectionDefaults()


@dataclass(frozen=True)
class Detection:
    """The detected or chosen language of a collection of texts.

    Parameters
    ----------
    code : code of the language; empty if none was found.
    shares : share of the sample in each language, from 0 to 1, by code.
    chosen : True if a user chose the language.
    """

    code: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)
    chosen: bool = False

    @property
    def other_languages(self) -> dict[str, float]:
        """The other languages of at least `DETECTION.min_named_share` of the sample."""
        return {
            code: share
            for code, share in self.shares.items()
            if code != self.code and share >= DETECTION.min_named_share
        }

    @property
    def name(self) -> str:
        """The language's name; English, which is the default, if none was found."""
        entry = language(self.code or ENGLISH)
        return entry.name if entry is not None else self.code

    def words(self) -> str:
        """Return the language in words: “German, with 30 % English”, “German, as chosen”."""
        entry = language(self.code)
        if entry is None:
            return "not recognised, read as English"
        if self.chosen:
            return f"{entry.name}, as chosen"
        more = [
            f"{100 * share:.0f} % {languages()[code].name}"
            for code, share in self.other_languages.items()
            if code in languages()
        ]
        return f"{entry.name}, with {' and '.join(more)}" if more else entry.name


def detect_language(texts: Sequence[str]) -> Detection:
    """Return the language of a collection of texts, and the share of each language.

    A sample of `DETECTION.sample_pieces` pieces is examined. A language other than English is
    returned only if more than half of the sample is in it.

    >>> from core.languages import detect_language
    >>> detect_language(["Der Zug fährt nach Berlin.", "Die Stadt liegt an der Spree."]).code
    'de'
    """
    letters_by_code: Counter[str] = Counter()  # an empty code counts undecided pieces
    for piece in _draw_pieces(texts):
        letters_by_code[detect_text_language(piece)] += len(piece)
    total = letters_by_code.total()
    shares = {
        code: round(count / total, 3)
        for code, count in letters_by_code.most_common()
        if code and count
    }
    best_code = next(iter(shares), "")
    # English, the default, needs only more letters than the undecided pieces.
    min_letters = letters_by_code[""] if best_code == ENGLISH else total / 2
    return Detection(best_code if letters_by_code[best_code] > min_letters else "", shares)


def _draw_pieces(texts: Sequence[str]) -> Iterator[str]:
    """Yield pieces of texts spread evenly over a list. Several of each text if there are few."""
    pieces_per_text = max(1, DETECTION.sample_pieces // max(1, len(texts)))
    text_step = max(1, -(-len(texts) // DETECTION.sample_pieces))
    for index in range(0, len(texts), text_step):
        text = texts[index]
        step = max(DETECTION.piece_letters, len(text) // pieces_per_text)
        for start in range(0, min(len(text), pieces_per_text * step), step):
            yield text[start : start + DETECTION.piece_letters]


@lru_cache(maxsize=512)
def language_of_question(question: str, use_scores: bool = True) -> str:
    """Return the code of a question's language. Empty if it cannot be decided.

    The arguments and rules are those of `detect_text_language`, with a cache.

    >>> from core.languages import language_of_question
    >>> [language_of_question(one) for one
    ...     in ("Wer baute den Turm?", "北京大学位于哪里", "Кто построил мост?", "Rope")]
    ['de', 'zh', 'ru', '']
    """
    return detect_text_language(question, use_scores)


def detect_text_language(text: str, use_scores: bool = True) -> str:
    """Return the code of a text's language. Empty if it cannot be decided.

    The first of these rules that finds a language decides:

    1. Only one known language has the script of the text.
    2. The text is short, and its first word is a question or function word of only one language.
    3. A quarter of the words are function words of the language, and it has clearly more of them
       than any other.
    4. If `use_scores`, the language leads clearly by the sum of lingua's confidence and twice the
       share of function words.

    A text of a few names thus has no language. The numbers are in `DetectionDefaults`.
    """
    text = text[: DETECTION.max_examined_letters]
    script = _choose_script(text)
    candidates = [entry for entry in languages().values() if script and entry.script == script]
    if len(candidates) < 2:
        return candidates[0].code if candidates else ""
    words = [
        word.casefold() for word in LETTERS_ONLY_WORD.findall(text)[: DETECTION.max_examined_words]
    ]
    question_code = _language_by_question_word(words, candidates)
    if question_code:
        return question_code
    shares = {
        entry.code: sum(word in entry.stop_words for word in words) / max(1, len(words))
        for entry in candidates
    }
    first, second = sorted(shares.values(), reverse=True)[:2]
    if first >= DETECTION.min_function_word_share and first >= DETECTION.min_share_ratio * second:
        return max(shares, key=lambda code: shares[code])
    return _language_by_score(text, len(words), shares) if use_scores else ""


def _language_by_question_word(words: Sequence[str], candidates: Sequence[Language]) -> str:
    """Return the only language with the first word among its words.

    The result is empty if there are none or several such languages, or if the text is shorter or
    longer than one question.
    """
    if not DETECTION.min_detector_words <= len(words) <= DETECTION.max_question_words:
        return ""
    word = words[0]
    codes = [
        entry.code
        for entry in candidates
        if word in entry.kinds_by_question_phrase or word in entry.words
    ]
    return codes[0] if len(codes) == 1 else ""


def _language_by_score(text: str, n_words: int, shares: Mapping[str, float]) -> str:
    """Return the language that leads clearly by lingua's confidence and function words.

    The result is empty if none leads clearly. `shares` are the shares of function words by code.
    """
    confidences = _confidences(text) if n_words >= DETECTION.min_detector_words else {}
    scores = {
        code: confidences.get(code, 0.0) + DETECTION.function_word_weight * share
        for code, share in shares.items()
    }
    best, second = sorted(scores, key=lambda code: (-scores[code], code))[:2]
    is_trusted = shares[best] or n_words >= DETECTION.min_trusted_words
    leads_clearly = (
        scores[best] >= DETECTION.min_language_score
        and scores[best] - scores[second] >= DETECTION.min_score_lead
    )
    return best if is_trusted and leads_clearly else ""


def _choose_script(text: str) -> str:
    """Return the script by which the language of a text is decided.

    A script other than Latin is chosen if a quarter of the letters have it, as texts in other
    scripts often contain Latin names.
    """
    counts = count_letters(text)
    main_script = find_script(text)
    other = max(counts.keys() - {"Latin", ""}, key=lambda name: (counts[name], name), default="")
    if main_script == "Latin" and 4 * counts[other] >= counts.total():
        return "Kana" if counts["Kana"] and other == "Han" else other
    return main_script


def _confidences(text: str) -> dict[str, float]:
    """Return lingua's confidence in each known language, by code. Empty if it is not installed."""
    detector = _detector()
    if detector is None:
        return {}
    return {
        confidence.language.iso_code_639_1.name.lower(): confidence.value
        for confidence in detector.compute_language_confidence_values(text)
    }


@cache
def detection_rules() -> str:
    """Return a text that changes with the rules of detection, as a stamp of saved results."""
    table = Path(__file__).with_name("languages.toml").read_bytes()
    settings = f"{DETECTION} {find_spec('lingua') is not None}"
    return hashlib.sha256(settings.encode() + table).hexdigest()[:16]


@cache
def _detector() -> Any:
    """Return lingua's detector of the known languages. None if it is not installed.

    It uses lingua's trigram models, which take 40 MB; all models take 600.
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
