"""Choice of the reader for names and phrases in languages other than English.

It is spaCy's model for the language if one is installed, else rules.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

from core.builds.facts import Facts
from core.languages import Language, languages

# Version prefix of spaCy's own models. A package of this name with another version, such as 999,
# may be by somebody else and is never loaded.
SPACY_VERSION_PREFIX = "3."
PIPE_BATCH_CHUNKS = 64


def reader_signature(code: str) -> str:
    """Return the name and version of the reader of a language. Its facts depend on them."""
    language = languages()[code]
    package = model_of(code)
    return f"{package} {version(package)}" if package else _rules().signature(language)


def read_in_language(
    code: str, facts_of: Callable[[Any], Facts], texts: Sequence[str]
) -> list[Facts]:
    """Return the facts of texts in a language.

    Parameters
    ----------
    code : code of the language.
    facts_of : returns the facts of a chunk from spaCy's parse of it.
    texts : texts of chunks.

    Returns
    -------
    One entry for each text, by spaCy's model for the language if it is installed, else by rules.
    """
    package = model_of(code)
    if not package:
        return _rules().read_by_rule(languages()[code], texts)
    return [facts_of(doc) for doc in _parser(package).pipe(texts, batch_size=PIPE_BATCH_CHUNKS)]


def reader_words(code: str) -> str:
    """Return the end of a sentence on how names are found.

    It is about one language. An example is “by rules, as no parser for German is installed”.
    """
    package = model_of(code)
    if package:
        return f"by spaCy's {package}"
    if code == "zh" and _rules().dictionary_version():
        return "by the dictionary of rjieba"
    return f"by rules, as no parser for {languages()[code].name} is installed"


def _rules() -> ModuleType:
    """Return the rules; their patterns take time to compile, and few commands need them."""
    from core.builds.extract import language_rules

    return language_rules


@cache
def model_of(code: str) -> str:
    """Return the package of the best installed spaCy model for a language; else empty."""
    language: Language = languages()[code]
    for package in language.models:
        try:
            if version(package).startswith(SPACY_VERSION_PREFIX):
                _parser(package)
                return package
        # An ImportError also comes from a package that needs another one which is not installed.
        except (PackageNotFoundError, ImportError, OSError, ValueError):
            continue
    return ""


@cache
def _parser(package: str) -> Any:
    """Load a spaCy model once. Raises ImportError, OSError and ValueError."""
    import spacy

    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ImportError(f"{package} cannot be found")
    # The package is not imported; its data are what spaCy loads.
    folder = Path(spec.origin).parent / f"{package}-{version(package)}"
    parser = spacy.load(folder, exclude=["lemmatizer"])
    # If spaCy has no phrase rules for the language, only names are found.
    if parser.vocab.get_noun_chunks is None:
        parser.vocab.get_noun_chunks = lambda doc: iter(())
    return parser
