"""Shell commands stand apart from the sentences of errors, so that the app can leave them out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cli import COMMAND_NAMES
from core.errors import HopscopeError, library_message, split_command, with_command
from pages.parts.shared.text import plain

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(
    rf"\bhopscope (?:{'|'.join(COMMAND_NAMES)})\b|pip install|hf download|\bmake models\b"
)
BUILDERS = {"with_command", "library_message"}
# Modules whose texts are read in a terminal or in the documents.
TERMINAL_MODULES = {
    "core/comparison/lane_traces.py",
    "core/graph/building/ladybug_graphs.py",
    "core/methods/page.py",
}


def _is_terminal_module(path: Path) -> bool:
    name = path.relative_to(ROOT).as_posix()
    return name.startswith(("core/commands/", "core/cli.py")) or name in TERMINAL_MODULES


def commands_in_sentences(source: str) -> Iterator[str]:
    """Yield the string literals that hold a shell command after other words."""
    tree = ast.parse(source)
    allowed = set(allowed_nodes(tree))
    for text in literals(tree, allowed):
        found = COMMAND.search(text)
        if found and found.start():
            yield text


def allowed_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield docstrings and what is passed as a command."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in BUILDERS:
            for argument in node.args[1:]:
                yield from ast.walk(argument)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def literals(tree: ast.Module, left_out: set[ast.AST]) -> Iterator[str]:
    """Yield the texts of string literals, the fixed parts of an f-string as one."""
    left_out = set(left_out)
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            left_out.update(node.values)
            yield "".join(part.value for part in node.values if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("folder", ["core", "pages", "hopscope"])
def test_no_sentence_holds_a_shell_command(folder):
    sentences = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in (ROOT / folder).rglob("*.py")
        if not _is_terminal_module(path)
        for text in commands_in_sentences(path.read_text())
    }
    assert not sentences


def test_a_command_in_a_sentence_is_seen():
    assert list(commands_in_sentences('raise E("It is absent; pip install x brings it.")'))
    assert not list(
        commands_in_sentences('raise E(with_command("It is absent.", "pip install x"))')
    )


def test_the_app_leaves_out_the_command():
    message = library_message("gte", "torch")
    assert split_command(message)[1] == "pip install torch"
    assert plain(str(HopscopeError(message))) == plain(split_command(message)[0])
    assert split_command(with_command("A.", "b") + " c") == ("A.", "b c")
    assert split_command("A sentence.") == ("A sentence.", "")
