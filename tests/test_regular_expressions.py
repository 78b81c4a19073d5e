"""Every regular expression takes time in proportion to the text, whatever the text.

Those are tested with which files and models' replies are read.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

from tests.regular_expressions import slow_text

FILES = ("core.io", "core.questions", "core.corpus", "core.graph", "core.datasets")
# and what servers say
REPLIES = (
    "core.models",
    "core.operators",
    "core.builds",
    "core.indexes.walks",
    "core.evaluation.metrics",
)


def modules():
    for name in FILES + REPLIES:
        package = importlib.import_module(name)
        yield package
        inside = getattr(package, "__path__", ())
        yield from (
            importlib.import_module(found.name)
            for found in pkgutil.walk_packages(inside, f"{name}.")
            if inside
        )


MODULES = list(modules())
PATTERNS = {
    f"{module.__name__}.{name}": value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern) and not name.startswith("__")
}
REGEX_CALL = re.compile(r"\bre\.")
METHOD_CALL = re.compile(r"\b([A-Z_0-9]+)\.(\w+)\(")


def ways(name: str) -> set[str]:
    """Return the ways a pattern is looked for, wherever it is named.

    They are methods of matching, splitting or replacing.
    """
    return methods_called().get(name.rpartition(".")[2], set())


@cache
def methods_called() -> dict[str, set[str]]:
    """Return the methods that are called of each name, in all modules.

    They are looked up once.
    """
    called: dict[str, set[str]] = {}
    for module in MODULES:
        for name, method in METHOD_CALL.findall(source(module)):
            called.setdefault(name, set()).add(method)
    return called


def source(module) -> str:
    return Path(module.__file__).read_text("utf-8")


def test_those_of_the_readers_are_among_them():
    assert {
        "core.corpus.readers.markdown.INLINE_MARKS",
        "core.corpus.readers.html.CHARSET",
        "core.io.json_pieces.JSON_SEPARATOR",
    } <= set(PATTERNS)
    assert {
        "core.models.chat.json_reply.STRING_OR_TRAILING_COMMA",
        "core.models.rating.RATING_PAIR",
        "core.evaluation.metrics.failures.QUOTED_TEXT",
    } <= set(PATTERNS)


@pytest.mark.parametrize("name", PATTERNS)
def test_time_is_in_proportion_to_the_text(name):
    assert not slow_text(
        PATTERNS[name], anywhere=not ways(name) or not ways(name) <= {"match", "fullmatch"}
    )


@pytest.mark.parametrize(
    "careless",
    [
        re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE),
        re.compile(r"[*_`]+|!?\[([^\]]*)\]\([^)]*\)"),
        re.compile(rb"\s+$"),
        re.compile(r"(a+)+b"),
        re.compile(r"\s*\([^()]*\)\s*$"),
    ],
    ids=lambda pattern: str(pattern.pattern),
)
def test_a_careless_one_is_found(careless):
    assert any(slow_text(careless) for _ in range(4))  # a busy machine may hide it once


def test_every_expression_has_a_name_by_which_it_is_found():
    """No expression is compiled within a function, or given to `re` as a text.

    The test above would not see it there. Those that are made for one name, by `re.escape`, may be.
    """
    for module in MODULES:
        if not REGEX_CALL.search(source(module)):
            continue
        inside = [
            node
            for function in ast.walk(ast.parse(source(module)))
            if isinstance(function, ast.FunctionDef | ast.Lambda)
            for node in ast.walk(function)
        ]
        called = {
            node.lineno: node
            for node in inside
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")
        }
        faults = [line for line, call in called.items() if "re.escape(" not in ast.unparse(call)]
        assert not faults, module.__name__
