"""Collect the texts of the screens for translators.

`make strings` writes assets/locale/hopscope.pot, brings the translations beside it up to date, and
compiles them. FOLDER is one of translations elsewhere, such as locale in the folder of
HOPSCOPE_HOME. See docs/translating.md.

    python -m tests.strings [FOLDER]
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from core.builds.registry import BUILD_GRAMMAR
from core.evaluation.metrics.catalogue import METRICS, REPORTED_METRICS, metric
from core.indexes.index_kinds import INDEX_KINDS
from core.indexes.index_state import (
    INDEX_ABSENT,
    INDEX_DAMAGED,
    INDEX_OF_OTHER_SETTING,
    INDEX_PARTIAL,
    INDEX_READY,
)
from core.io.home import ROOT
from core.lines.difference import title_of
from core.methods.catalogue import published_methods
from core.operators.text import RETRIEVAL_GRAMMAR
from core.parameters import parameters
from core.sources import CorpusSource, GraphSource
from pages.parts.shared.wording import GETTEXT_DOMAIN, LOCALE_FOLDER

POT = LOCALE_FOLDER / f"{GETTEXT_DOMAIN}.pot"
TEXTS = {"tr", "caption", "write"}  # functions whose first argument is a text
# those with a noun, after its number except in `nouns`, and perhaps its plural
NOUNS = {"many", "noun", "nounOf", "nouns", "plural"}
CALL = re.compile(rf"\b({'|'.join(sorted(NOUNS))}|tr)\(")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[()\[\]{},]')
HEADER = "# The texts of Hopscope's screens, in English: written by `make strings`, see docs/translating.md."
Words = str | tuple[str, str]  # a text, or a noun for one and for more


def python_words(text: str) -> Iterator[Words]:
    """The texts and nouns that a module of Python gives to `tr`, `caption`, `write`, `many`, `noun` and `nouns`.

    >>> list(python_words('tr("{n} left", n=many(n, "reply", "replies")) if n else tr("none")'))
    ['{n} left', ('reply', 'replies'), 'none']
    """
    calls = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        given = [
            one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else None
            for one in call.args
        ]
        yield from _words(call.func.id, given)


def javascript_words(text: str) -> Iterator[Words]:
    """The same of a module of JavaScript, whose texts are in double quotes.

    >>> list(javascript_words('tr("{n} left", { n: plural(size(all, 2), "reply") }) + tr(`${x}`)'))
    ['{n} left', ('reply', 'replys')]
    """
    for call in CALL.finditer(text):
        given: list[str | None] = [None]
        depth = 0
        for token in TOKEN.finditer(text, call.end()):
            if token[0] in "([{":
                depth += 1
            elif token[0] in ")]}":
                depth -= 1
            elif token[0] == "," and not depth:
                given.append(None)
            elif token[0][0] == '"' and not depth:
                given[-1] = json.loads(token[0])
            if depth < 0:
                break
        yield from _words(call[1], given)


def _words(name: str, given: list[str | None]) -> Iterator[Words]:
    if name in TEXTS and given and given[0]:
        yield given[0]
    elif name in NOUNS:
        words = [one for one in (given[:2] if name == "nouns" else given[1:3]) if one]
        if words:
            yield words[0], words[1] if len(words) > 1 else f"{words[0]}s"


def template() -> Catalog:
    """The catalogue of all texts, by the file that they are first in."""
    found = Catalog(project="Hopscope", charset="utf-8")
    for path in sorted(
        [ROOT / "main.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "assets").rglob("*.js")]
    ):
        read = python_words if path.suffix == ".py" else javascript_words
        for words in read(path.read_text("utf-8")):
            add(found, words, path.relative_to(ROOT).as_posix())
    for text, place in core_words():
        if text:
            add(found, text, f"core/{place}")
    return found


def core_words() -> Iterator[tuple[str, str]]:
    """Words of core that screens draw, with what they are of."""
    for cls in {**RETRIEVAL_GRAMMAR.operators, **BUILD_GRAMMAR.operators}.values():
        yield from ((cls.title, "steps"), (title_of(cls), "steps"))
        for parameter in parameters(cls):
            yield from ((parameter.label, "settings"), (parameter.help, "settings"))
    for row in published_methods().values():
        yield from ((row.label, "methods"), (row.title, "methods"))
    for name in dict.fromkeys((*METRICS, *REPORTED_METRICS)):
        described = metric(name).describe()
        yield from (
            (described[key], "metrics")
            for key in ("title", "definition", "convention", "unit", "better")
        )
    for kind in INDEX_KINDS.values():
        yield from (
            (kind.title, "indexes"),
            (kind.purpose, "indexes"),
            (kind.coverage_words, "indexes"),
        )
    yield from (
        (state, "indexes")
        for state in (
            INDEX_READY,
            INDEX_PARTIAL,
            INDEX_OF_OTHER_SETTING,
            INDEX_ABSENT,
            INDEX_DAMAGED,
        )
    )
    yield from (
        (row["title"], "models")
        for row in tomllib.loads((ROOT / "models.toml").read_text("utf-8"))["model"].values()
    )
    for kind in (GraphSource, CorpusSource):
        yield from ((stage, "stages") for stage in kind.stages)


def add(found: Catalog, words: Words, place: str) -> None:
    """Add a text or noun to a catalogue, with the place that it is from."""
    text = words if isinstance(words, str) else words[0]
    message = found.get(text)
    if message is None or (isinstance(message.id, str) and not isinstance(words, str)):
        places = [] if message is None else message.locations
        found.delete(text)
        message = found.add(words, locations=places)
    if (place, None) not in message.locations:
        message.locations.append((place, None))
    message.flags.clear()
    if fields(text):
        message.flags.add("python-brace-format")


def fields(text: str) -> set[str]:
    """The names in the braces of a text."""
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name}
    except ValueError:
        return set()


def pot() -> str:
    """The text of hopscope.pot as it is to be."""
    out = io.BytesIO()
    write_po(out, template(), width=120, include_lineno=False, omit_header=True)
    return f'{HEADER}\nmsgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n{out.getvalue().decode()}'


def faults(translation: Catalog) -> list[str]:
    """Return the faults of a translation, a sentence each.

    They are braces that name other values than the English text.
    """
    found = []
    for message in translation:
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        english = message.id if isinstance(message.id, str) else message.id[0]
        if english:
            found += [
                f"“{text}” has other names in its braces than “{english}”."
                for text in texts
                if text and fields(text) != fields(english)
            ]
    return found


def bring_up_to_date(po: Path, texts: Catalog) -> list[str]:
    """Bring a translation up to date with the texts, and compile it; what is wrong with it. Texts that are no longer there are dropped."""
    with po.open("rb") as file:
        translation = read_po(file, locale=po.parents[1].name, domain=GETTEXT_DOMAIN)
    translation.update(texts, no_fuzzy_matching=True)
    with po.open("wb") as file:
        write_po(file, translation, width=120, include_lineno=False, ignore_obsolete=True)
    with po.with_suffix(".mo").open("wb") as file:
        write_mo(file, translation)
    done = sum(
        bool(one.id and one.string and (isinstance(one.string, str) or all(one.string)))
        for one in translation
    )
    print(f"{po}: {done:,} of {len(translation):,} texts translated.")
    return faults(translation)


def main(folder: Path = LOCALE_FOLDER) -> int:
    """Write hopscope.pot and bring the translations in a folder up to date; 1 where one is wrong."""
    POT.parent.mkdir(parents=True, exist_ok=True)
    POT.write_text(pot(), "utf-8")
    texts = template()
    wrong = [
        fault
        for po in sorted(folder.glob(f"*/LC_MESSAGES/{GETTEXT_DOMAIN}.po"))
        for fault in bring_up_to_date(po, texts)
    ]
    print("\n".join([*wrong, f"{POT}: {len(texts):,} texts."]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
