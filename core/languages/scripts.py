"""Scripts of texts, and the letters of scripts without blanks between words."""

from __future__ import annotations

import re
from collections import Counter

# Letters of scripts without blanks between words: Thai, Lao, Burmese, Khmer, kana, Chinese.
UNSPACED_LETTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
UNSPACED_LETTER = re.compile(f"[{UNSPACED_LETTERS}]")
# The letters of each script, as ranges of a character class.
SCRIPTS = {
    "Latin": "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff",
    "Cyrillic": "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Arabic": "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff",
    "Hebrew": "\u0590-\u05ff\ufb1d-\ufb4f",
    "Devanagari": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
    "Hangul": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "Kana": "\u3040-\u30ff\u31f0-\u31ff",
    "Han": "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
}
_LETTERS = {name: re.compile(f"[{letters}]") for name, letters in SCRIPTS.items()}
_ANY_LETTER = re.compile(r"[^\W\d_]")
MIN_KANA_SHARE = 0.05  # of the letters of a Japanese text; most others are Chinese characters


def count_letters(text: str) -> Counter[str]:
    """Return the number of letters of each script in a text.

    Letters of other scripts are counted under an empty name. Scripts without letters are left out.
    """
    counts = Counter({name: len(pattern.findall(text)) for name, pattern in _LETTERS.items()})
    counts[""] = max(0, len(_ANY_LETTER.findall(text)) - counts.total())
    return +counts  # without the counts of zero


def find_script(text: str) -> str:
    """Return the script of at least half of a text's letters. Empty if there is none.

    Kana and Chinese characters (“Han”) together are Japanese, which is returned as “Kana”.

    >>> from core.languages.scripts import find_script
    >>> find_script("東京タワーはどこですか"), find_script("北京大学 (PKU)"), find_script("Кто это?"), find_script("1999")
    ('Kana', 'Han', 'Cyrillic', '')
    """
    counts = count_letters(text)
    total = counts.total()
    kana = counts["Kana"]
    if kana and kana + counts["Han"] >= total / 2 and kana >= MIN_KANA_SHARE * total:
        return "Kana"
    name = max(counts, key=lambda script: counts[script], default="")
    return name if 2 * counts[name] >= total and total else ""
