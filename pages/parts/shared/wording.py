"""Texts of the screens in the server's language, by gettext: `HOPSCOPE_LANGUAGE`, English where it
is not set or has no translation.

Every text is in English in the code, in `tr` or `many`. `make strings` collects them in
assets/locale/hopscope.pot (docs/translating.md).
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
from core.io.home import ROOT, home

DOMAIN = "hopscope"
LOCALE = ROOT / "assets" / "locale"
_CODE = re.compile(r"[A-Za-z]{2,8}([_@-][A-Za-z0-9]{1,8}){0,3}")


def language() -> str:
    """The code of the language that the server is started with, such as `de` or `pt_BR`; empty for
    English."""
    return os.environ.get("HOPSCOPE_LANGUAGE", "").strip()


@cache
def catalogue() -> NullTranslations:
    """The translations of the server's language, of the person's folder `locale` before those that
    ship; none where there are none, which the log says."""
    code = language()
    if not code or code.lower().startswith("en"):
        return NullTranslations()
    folders = [LOCALE]
    with suppress(StoreError):
        folders.insert(0, home() / "locale")
    for folder in folders if _CODE.fullmatch(code) else []:
        with suppress(OSError, ValueError):  # none there, or no catalogue
            return translation(DOMAIN, folder, [code.replace("-", "_")])
    logging.getLogger(__name__).warning(
        "There is no translation of the screens for HOPSCOPE_LANGUAGE=%s; they are in English.",
        code,
    )
    return NullTranslations()


def tr(text: str, /, **values: object) -> str:
    """`text` in the server's language, with the values in its braces as `str.format` writes them.
    Where values are given, braces that are none are doubled. A translation whose braces name other
    values is not used.

    >>> tr("{found:,} of {pairs} found", found=1200, pairs="2,000 pairs")
    '1,200 of 2,000 pairs found'
    """
    found = _found(text)
    if not values:
        return found
    with suppress(LookupError, ValueError, AttributeError):
        return found.format(**values)
    return text.format(**values)


def _found(text: str) -> str:
    """The translation of a text, of a noun its first form."""
    found = catalogue().gettext(text) if text else text
    return catalogue().ngettext(text, text, 1) if found is text and text else found


def noun(count: int, one: str, more: str) -> str:
    """The noun that goes with a number, in the server's language: `one` or `more` in English."""
    return catalogue().ngettext(one, more, count)


def nouns(one: str, more: str) -> tuple[str, str]:
    """The two forms of an English noun, for `many` or `noun` later: so they are among the texts to
    translate."""
    return one, more


@cache
def as_script() -> str:
    """The translations as a constant of JavaScript, for assets/wording.js: texts, nouns by their
    plural forms, and the form of each number from 0 to 199, which holds for larger ones with the
    same last two digits. Empty tables in English."""
    found = catalogue()
    texts: dict[str, str] = {}
    forms: dict[str, dict[int, str]] = {}
    plurals: list[int] = []
    if isinstance(found, GNUTranslations):
        state = vars(found)  # of which typeshed declares nothing
        for key, text in state["_catalog"].items():
            if isinstance(key, tuple):
                forms.setdefault(key[0], {})[key[1]] = text
            elif key:
                texts[key] = text
        plurals = [state["plural"](count) for count in range(200)]
    tables = {
        "texts": {key: tr(key) for key in forms} | texts,
        "nouns": {key: [some[number] for number in sorted(some)] for key, some in forms.items()},
        "plurals": plurals,
    }
    return f"const TRANSLATIONS = {json.dumps(tables, ensure_ascii=False)};"
