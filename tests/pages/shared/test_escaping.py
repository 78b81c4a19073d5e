"""An alert or a toast escapes every text that is not written down in the page itself."""

from __future__ import annotations

import ast
import re
from string import Formatter

import pytest

from core.io.home import ROOT
from pages.parts.shared.text import plain

ALERTS = {"error", "warning", "info", "success", "toast", "exception"}
FILES = [ROOT / "main.py", *sorted((ROOT / "pages").rglob("*.py"))]


def drawn(tree: ast.AST):
    """The first argument of each alert."""
    for call in ast.walk(tree):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in ALERTS
            and call.args
        ):
            if isinstance(call.func.value, ast.Name) and call.func.value.id == "st":
                yield call.args[0]


def safe(text: ast.expr) -> bool:
    """Return whether a text is written in the page, or escaped wherever it is not."""
    if isinstance(text, ast.Constant):
        return True
    if isinstance(text, ast.Call):
        if isinstance(text.func, ast.Name) and text.func.id == "many":  # a number with a noun
            return all(safe(noun) for noun in text.args[1:])
        if isinstance(text.func, ast.Name) and text.func.id == "tr":
            return isinstance(text.args[0], ast.Constant) and all(
                _value(one, text.args[0].value) for one in text.keywords
            )
        if (
            isinstance(text.func, ast.Attribute)
            and text.func.attr == "join"
            and isinstance(text.args[0], ast.GeneratorExp)
        ):
            return safe(text.func.value) and safe(text.args[0].elt)
        return isinstance(text.func, ast.Name) and text.func.id == "plain"
    if isinstance(text, ast.IfExp):
        return safe(text.body) and safe(text.orelse)
    return isinstance(text, ast.JoinedStr) and all(_part(part) for part in text.values)


def _part(part: ast.expr) -> bool:
    """Return whether a piece of an f-string is safe.

    It is so where it is written down, escaped, a number in figures, or a text that this page made
    of such pieces.
    """
    if isinstance(part, ast.FormattedValue):
        number = isinstance(part.format_spec, ast.JoinedStr)
        return (
            number
            or safe(part.value)
            or isinstance(part.value, ast.Name)
            and part.value.id == "text"
        )
    return safe(part)


def _value(value: ast.keyword, text: str) -> bool:
    """Return whether a value of `tr` is safe.

    It is a number in figures by its braces in the text, or is safe as in an f-string.
    """
    number = any(name == value.arg and spec for _, name, spec, _ in Formatter().parse(text))
    return (
        number
        or safe(value.value)
        or isinstance(value.value, ast.Name)
        and value.value.id == "text"
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_alerts_are_escaped(file):
    raw = [
        ast.unparse(text) for text in drawn(ast.parse(file.read_text("utf-8"))) if not safe(text)
    ]
    assert not raw, f"drawn as Markdown: {raw}; put it through pages.parts.shared.text.plain"


RAW = [
    "str(error)",
    "job.error",
    "f'no {name}'",
    "state.pop('x')",
    "led if led else 'x'",
    "tr('no {name}', name=name)",
    "tr(name)",
]


@pytest.mark.parametrize("text", RAW)
def test_the_check_finds_what_is_raw(text):
    assert not safe(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    "text",
    [
        "see https://example.org/x",
        "HTTP://example.org",
        "www.example.org",
        "ann@example.com",
        "mailto:ann@example.com",
    ],
)
def test_no_address_becomes_a_link(text):
    """Nothing is left that the patterns of GitHub's autolinks would find.

    By these patterns Streamlit's Markdown makes links after it has taken the escapes away.
    """
    shown = re.sub(r"\\(.)", r"\1", plain(text))
    assert not re.search(r"(https?://|www(?=\.))([-.\w]+)", shown, re.IGNORECASE) and not re.search(
        r"[-.\w+]+@[-\w]+(?:\.[-\w]+)+", shown
    )
    assert shown.replace("\u2060", "") == text


def test_what_is_no_address_stays_letter_by_letter():
    assert plain("a@ b, www, 1@, x://y") == r"a\@ b, www, 1\@, x\://y"
