"""Languages of texts: detection, function words and question words, spelling and stems."""

from core.languages.detection import Detection, detect_language, is_english, language_of_question
from core.languages.language import ENGLISH, Language, known_code, language, languages

__all__ = [
    "ENGLISH",
    "Detection",
    "Language",
    "detect_language",
    "is_english",
    "known_code",
    "language",
    "language_of_question",
    "languages",
]
