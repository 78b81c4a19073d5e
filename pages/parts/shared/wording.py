"""Translation of the pages by gettext into the server's language (`HOPSCOPE_LANGUAGE`).

The language is English if the variable is not set or has no translation. Every text is in English
in the code, in `tr` or `many`. `make strings` collects the texts in assets/locale/hopscope.pot
(docs/translating.md).
"""

from __future__ import annotations

import json
import logging
import os
import re
from contextlib import suppress
from functools import cache
from gettext import GNUTranslations, NullTranslations, translation

from core.errors import StoreError
from core.io.home import ROOT, home_folder

GETTEXT_DOMAIN = "hopscope"
LOCALE_FOLDER = ROOT / "assets" / "locale"
_LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,8}([_@-][A-Za-z0-9]{1,8}){0,3}")


def language() -> str:
    """The code of the server's language, such as “de” or “pt_BR”.

    Empty for English.
    """
    return os.environ.get("HOPSCOPE_LANGUAGE", "").strip()


@cache
def catalogue() -> NullTranslations:
    """The translations into the server's language.

    The folder `locale` of the user comes before the shipped one. If there is no translation, a
    warning is logged and the texts stay in English.
    """
    code = language()
    if not code or code.lower().startswith("en"):
        return NullTranslations()
    folders = [LOCALE_FOLDER]
    with suppress(StoreError):
        folders.insert(0, home_folder() / "locale")
    for folder in folders if _LANGUAGE_CODE.fullmatch(code) else []:
        with suppress(OSError, ValueError):  # The file is missing, or is no catalogue.
            return translation(GETTEXT_DOMAIN, folder, [code.replace("-", "_")])
    logging.getLogger(__name__).warning(
        "There is no translation of the screens for HOPSCOPE_LANGUAGE=%s; they are in English.",
        code,
    )
    return NullTranslations()


def tr(text: str, /, **values: object) -> str:
    """Return `text` in the server's language, with values inserted as by `str.format`.

    If values are given, other braces in the text are doubled. A translation whose placeholders do
    not match the values is not used.

    >>> tr("{found:,} of {pairs} found", found=1200, pairs="2,000 pairs")
    '1,200 of 2,000 pairs found'
    """
    translation = _translate(text)
    if not values:
        return translation
    with suppress(LookupError, ValueError, AttributeError):
        return translation.format(**values)
    return text.format(**values)


def _translate(text: str) -> str:
    """Return the translation of a text or of a singular noun.

    Without a translation, it is the text itself. Nouns are stored with both forms in the catalogue,
    which needs another look-up.
    """
    if not text:
        return text
    translation = catalogue().gettext(text)
    return catalogue().ngettext(text, text, 1) if translation is text else translation


def noun(count: int, singular: str, plural: str) -> str:
    """Return the form of a noun for a number, translated.

    In English it is one of the two arguments.
    """
    return catalogue().ngettext(singular, plural, count)


def nouns(singular: str, plural: str) -> tuple[str, str]:
    """Return both forms of an English noun, marked for translators.

    A later `many` or `noun` translates them.
    """
    return singular, plural


@cache
def translations_script() -> str:
    """Return the translations as a JavaScript constant for assets/wording.js.

    It has the texts, the plural forms of nouns, and the form for each number from 0 to 199. Larger
    numbers have the form of their last two digits. The tables are empty in English.
    """
    translations = catalogue()
    texts: dict[str, str] = {}
    forms: dict[str, dict[int, str]] = {}
    plurals: list[int] = []
    if isinstance(translations, GNUTranslations):
        state = vars(translations)  # private attributes, which typeshed does not declare
        for key, text in state["_catalog"].items():
            if isinstance(key, tuple):
                forms.setdefault(key[0], {})[key[1]] = text
            elif key:
                texts[key] = text
        plurals = [state["plural"](count) for count in range(200)]
    tables = {
        "texts": {key: tr(key) for key in forms} | texts,
        "nouns": {key: [form for _, form in sorted(forms[key].items())] for key in forms},
        "plurals": plurals,
    }
    return f"const TRANSLATIONS = {json.dumps(tables, ensure_ascii=False)};"
