"""The places of core and pages that tell a graph from documents.

Counted is each expression that reads `is_corpus` of a source, `on_documents` of a method or `has_texts` of a graph's
columns; that looks if a source has a `corpus`; that compares the kind of a source or looks something up by it; that
chooses between the two classes of sources by a condition; and that tests if something is of one of these classes. An
item's own kind (node, path, passage) is a field of data and is not counted, nor is a kind that is part of a name.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from tests.style.project import Project

FLAGS = {"is_corpus", "on_documents", "has_texts"}
SOURCE_CLASSES = {"CorpusSource", "GraphSource"}
SOURCE_NAMES = {"source", "on", "chosen", "asked_on"} | SOURCE_CLASSES
TABLE = Path(__file__).parent / "source_kinds.txt"


class KindQuestions(ast.NodeVisitor):
    """The expressions of a module that tell a graph from documents, counted by the function around them."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        self._around: list[str] = []
        self._corpus_names: set[str] = set()

    def visit(self, node: ast.AST) -> None:
        """Count a node and what is in it."""
        if asks_kind(node, self._corpus_names):
            self.found[".".join(self._around) or "module"] += 1
        super().visit(node)

    def _visit_scope(self, node: ast.ClassDef | ast.FunctionDef) -> None:
        outside = self._corpus_names
        self._around.append(node.name)
        if isinstance(node, ast.FunctionDef):
            self._corpus_names = outside | corpus_names(node)
        self.generic_visit(node)
        self._around.pop()
        self._corpus_names = outside

    visit_ClassDef = visit_FunctionDef = _visit_scope


def corpus_names(function: ast.FunctionDef) -> set[str]:
    """Return the local names that hold the corpus of a source, or None."""
    names = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr="corpus")):
                names.add(name)
            case ast.NamedExpr(target=ast.Name(id=name), value=ast.Attribute(attr="corpus")):
                names.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values):
                    if isinstance(target, ast.Name) and _ends_with(value, {"corpus"}):
                        names.add(target.id)
            case ast.arg(arg="corpus", annotation=ast.BinOp()):
                names.add("corpus")
    return names


def asks_kind(node: ast.AST, corpus_names: set[str]) -> bool:
    """Return whether an expression tells a graph from documents."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in FLAGS:
            return True
        case ast.Subscript(slice=key):
            return _is_kind(key)
        case ast.Dict(keys=keys):
            return any(map(_is_kind, keys))
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()]):
            return _is_corpus(left, corpus_names)
        case ast.Compare(left=left, comparators=others):
            return any(map(_is_kind, [left, *others]))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            chosen = {_class_of(body), _class_of(orelse)}
            flagged = any(asks_kind(part, corpus_names) for part in ast.walk(test))
            return chosen == SOURCE_CLASSES and not flagged or _is_corpus(test, set())
        case ast.If(test=test):
            return _is_corpus(test, set())
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes]):
            return not SOURCE_CLASSES.isdisjoint(re.findall(r"\w+", ast.unparse(classes)))
        case ast.Call(func=ast.Name(id="is_text_graph")):
            return True
    return False


def _is_corpus(node: ast.AST, corpus_names: set[str]) -> bool:
    if isinstance(node, ast.NamedExpr):
        node = node.value
    named = isinstance(node, ast.Name) and node.id in corpus_names
    return named or isinstance(node, ast.Attribute) and node.attr == "corpus"


def _is_kind(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "kind":
        return _ends_with(node.value, SOURCE_NAMES)
    return isinstance(node, ast.Attribute) and node.attr == "source_kind"


def _ends_with(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Call):
        node = node.func
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in names


def _class_of(node: ast.AST) -> str:
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def asked_places(project: Project) -> Counter[str]:
    """Count the expressions that ask for the kind of source by file and function."""
    found: Counter[str] = Counter()
    for name in ("core", "pages"):
        for source in project.packages[name].sources:
            visitor = KindQuestions()
            visitor.visit(ast.parse(source.text))
            found.update({f"{source.path} {where}": n for where, n in visitor.found.items()})
    return found


def listed_places(text: str) -> dict[str, tuple[int, str]]:
    """Read the table: by file and function how often it asks, and the reason."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            where, _, reason = line.partition(": ")
            place, _, count = where.rpartition(" ")
            found[place] = int(count), reason
    return found
