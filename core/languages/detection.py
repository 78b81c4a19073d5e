"""Language detection by script, by function words, and by lingua if these do not decide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from core.languages.language import ENGLISH, Language, language, languages
from core.languages.scripts import count_letters, find_script

LETTERS_ONLY_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class DetectionDefaults:
    """Sample sizes and thresholds of language detection."""

    max_examined_letters: int = 4_000  # of a text
    max_examined_words: int = 200
    min_function_word_share: float = 0.25  # that decides alone
    min_share_ratio: float = 2.5  # of that share to the next language's
    min_language_score: float = 0.75  # of lingua's confidence and function words together
    min_score_lead: float = 0.25  # over the next language
    function_word_weight: float = 2.0  # of their share; lingua's confidence has weight 1
    max_question_words: int = 30  # of a text that may be one question
    min_detector_words: int = 3  # for which lingua or a question word is used
    min_trusted_words: int = 10  # for which lingua is used without any function word
    sample_pieces: int = 40
    piece_letters: int = 600
    min_named_share: float = 0.15  # of another language that is named


DETECTION = DetectionDefaults()


@dataclass(frozen=True)
class Detection:
    """The language of some texts by its code, empty if none was found.

    `shares` are the shares of languages in the sample, from 0 to 1. `chosen` is true if a user
    chose the language.
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
        """Describe the language: “German”, “German, with 30 % English”, “German, as chosen”."""
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
    """Return the language of some texts, and the share of each language.

    At most 40 pieces of the texts are examined. Unless it is English, the language must be that of
    more than half of the sample.

    >>> from core.languages import detect_language
    >>> detect_language(["Der Zug fährt nach Berlin.", "Die Stadt liegt an der Spree."]).code
    'de'
    """
    letters_by_code: Counter[str] = Counter()
    for piece in _draw_pieces(texts):
        letters_by_code[detect_text_language(piece)] += len(piece)
    total = letters_by_code.total()
    shares = {
        code: round(count / total, 3)
        for code, count in letters_by_code.most_common()
        if code and count
    }
    best_code = next(iter(shares), "")
    # Unrecognised pieces count against other languages than English, which is the default.
    min_letters = letters_by_code[""] if best_code == ENGLISH else total / 2
    return Detection(best_code if letters_by_code[best_code] > min_letters else "", shares)


def _draw_pieces(texts: Sequence[str]) -> Iterator[str]:
    """Yield pieces of texts spread over a list; several from each text if there are few."""
    pieces_per_text = max(1, DETECTION.sample_pieces // max(1, len(texts)))
    text_step = max(1, -(-len(texts) // DETECTION.sample_pieces))
    for index in range(0, len(texts), text_step):
        text = texts[index]
        step = max(DETECTION.piece_letters, len(text) // pieces_per_text)
        for start in range(0, min(len(text), pieces_per_text * step), step):
            yield text[start : start + DETECTION.piece_letters]


@lru_cache(maxsize=512)
def language_of_question(question: str, in_doubt: bool = True) -> str:
    """Return the code of a question's language; empty if it has too few words to decide.

    Without `in_doubt`, it is also empty if script and function words do not decide.

    >>> from core.languages import language_of_question
    >>> [language_of_question(one) for one
    ...     in ("Wer baute den Turm?", "北京大学位于哪里", "Кто построил мост?", "Rope")]
    ['de', 'zh', 'ru', '']
    """
    return detect_text_language(question, in_doubt)


def detect_text_language(text: str, in_doubt: bool = True) -> str:
    """Return the code of a text's language; empty if it cannot be decided.

    A script that only one language has decides, and so does the first word of a short text, if only
    one language has it as a question or function word. Otherwise it is the language whose function
    words are a quarter of the words, if no other has nearly as many. Otherwise, if `in_doubt`, it
    is the one with the best sum of lingua's confidence and twice the share of function words, if
    that leads clearly. A text of a few names has no language.
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
    return _language_by_score(text, len(words), shares) if in_doubt else ""


def _language_by_question_word(words: Sequence[str], candidates: Sequence[Language]) -> str:
    """Return the only language of which the first word is a question or function word.

    Empty if there are none or several, or if the text is no question by its length.
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
    """Return the language that leads clearly by lingua's confidence and function words."""
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

    A script other than the Latin one suffices for a quarter of the letters, as such texts often
    contain Latin names.
    """
    counts = count_letters(text)
    main_script = find_script(text)
    other = max(counts.keys() - {"Latin", ""}, key=lambda name: (counts[name], name), default="")
    if main_script == "Latin" and 4 * counts[other] >= counts.total():
        return "Kana" if counts["Kana"] and other == "Han" else other
    return main_script


def _confidences(text: str) -> dict[str, float]:
    """Return lingua's confidence in each known language, by code; empty if it is not installed."""
    detector = _detector()
    if detector is None:
        return {}
    return {
        confidence.language.iso_code_639_1.name.lower(): confidence.value
        for confidence in detector.compute_language_confidence_values(text)
    }


@cache
def _detector() -> Any:
    """Return lingua's detector of the known languages; None if it is not installed.

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
