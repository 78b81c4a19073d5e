"""Which reader finds names and phrases in a language other than English: spaCy's model for it where one is installed, else rules."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import core.builds.extract.by_rule as by_rule
from core.builds.facts import Facts
from core.languages import Language, languages

SPACY = "3."  # the versions of spaCy's own models; what is called 999 is somebody else's, and is never loaded
BATCH_CHUNKS = 64


def signature(code: str) -> str:
    """What the facts in a language depend on beside the text."""
    known = languages()[code]
    package = model_of(code)
    return f"{package} {version(package)}" if package else by_rule.signature(known)


def read(code: str, facts_of: Callable[[Any], Facts], texts: Sequence[str]) -> list[Facts]:
    """The facts of some texts in a language; `facts_of` reads what a parser of spaCy made of one."""
    package = model_of(code)
    if not package:
        return by_rule.read_by_rule(languages()[code], texts)
    return [facts_of(doc) for doc in _parser(package).pipe(texts, batch_size=BATCH_CHUNKS)]


def words(code: str) -> str:
    """How names are found in a language, as the end of a sentence: `by rules, as no parser for German is installed`."""
    package = model_of(code)
    if package:
        return f"by spaCy's {package}"
    if code == "zh" and by_rule.dictionary():
        return "by the dictionary of rjieba"
    return f"by rules, as no parser for {languages()[code].name} is installed"


@cache
def model_of(code: str) -> str:
    """The package of the best spaCy model for a language that is installed; empty where there is none."""
    known: Language = languages()[code]
    for package in known.models:
        try:
            if version(package).startswith(SPACY):
                _parser(package)
                return package
        # or one that needs what is not installed
        except (PackageNotFoundError, ImportError, OSError, ValueError):
            continue
    return ""


@cache
def _parser(package: str) -> Any:
    """A model of spaCy, loaded once. Raises ImportError, OSError, ValueError."""
    parser = importlib.import_module(package).load(exclude=["lemmatizer"])
    # of a language for which spaCy has no rule of phrases: names alone
    if parser.vocab.get_noun_chunks is None:
        parser.vocab.get_noun_chunks = lambda doc: iter(())
    return parser
