"""Measurements of one Python module."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

QUESTION_WORDS = frozenset("What Whether How Where Why Which Who That Those Between".split())
SECTION = re.compile(r"^\s*(Parameters|Returns|Raises|Attributes)\n\s*-{3,}", re.MULTILINE)
TICKED_NAME = re.compile(r"`+([A-Za-z_]\w+(?:\.[A-Za-z_]\w*)*)(?:\(\))?`+")
MAX_SENTENCE_WORDS = 18
MAX_COLUMNS = 100
MAX_FUNCTION_LINES = 40
MAX_COMPLEXITY = 15
MANY_POSITIONAL = 6
LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Function:
    """A function, a method or a closure."""

    name: str  # with the names of what it stands in
    lines: int
    complexity: int


@dataclass(frozen=True)
class Source:
    """The text of a module and its measurements."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Syntax tree of the module."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def documented(self) -> list[ast.AST]:
        """The module, classes and functions that have a docstring."""
        kinds = (ast.Module, ast.ClassDef, *FUNCTIONS)
        return [node for node in self.nodes if isinstance(node, kinds) and ast.get_docstring(node)]

    @property
    def docstrings(self) -> list[str]:
        """The docstrings of classes and functions."""
        nodes = [node for node in self.documented if not isinstance(node, ast.Module)]
        return [ast.get_docstring(node) for node in nodes]

    @cached_property
    def counts(self) -> Counter[str]:
        """Number of lines, of statements and of each construct that makes code hard to read."""
        counts = self._lines()
        counts.update(name for node in self.nodes for name in constructs(node))
        counts["statements"] -= len(self.documented)  # a docstring is a statement too
        counts["modules"] = 1
        counts["docstrings"] = len(self.docstrings)
        counts["parameter sections"] = sum(map(has_section, self.docstrings))
        return counts

    def _lines(self) -> Counter[str]:
        lines = self.text.splitlines()
        filled = {row for row, line in enumerate(lines, 1) if line.strip()}
        comments = set()
        code = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                comments.add(token.start[0])
            elif token.type not in LAYOUT:
                code.update(range(token.start[0], token.end[0] + 1))
        for node in self.documented:
            code.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        return Counter(
            {
                "non-blank lines": len(filled),
                "code lines": len(code & filled),
                "comment lines": len(comments - code),
                "lines over 100 columns": sum(len(line) > MAX_COLUMNS for line in lines),
            }
        )

    @cached_property
    def functions(self) -> list[Function]:
        """All functions, also those inside of others."""
        return list(functions_in(self.tree))

    @property
    def classes(self) -> list[str]:
        """Names of all classes."""
        return [node.name for node in self.nodes if isinstance(node, ast.ClassDef)]

    @property
    def constants(self) -> list[str]:
        """Names in capitals that the module assigns."""
        return [name for name in assigned(self.tree) if name.isupper()]

    @property
    def ticked_names(self) -> set[str]:
        """Names of code in back-ticks in the docstrings."""
        texts = [ast.get_docstring(node) for node in self.documented]
        return set(TICKED_NAME.findall("\n".join(texts)))

    @cached_property
    def words(self) -> set[str]:
        """All names in the code, and the words of its strings."""
        documentation = {node.body[0].value for node in self.documented}
        words = set()
        for node in self.nodes:
            if node not in documentation:
                words.update(words_of(node))
        return words

    @property
    def defined_names(self) -> set[str]:
        """Names that others may mean: modules, classes, functions, fields and constants."""
        names = set(re.findall(r"\w+", self.path)) | set(assigned(self.tree))
        for node in self.nodes:
            if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
                names.add(node.name)
            if isinstance(node, ast.ClassDef):
                names.update(assigned(node))
        return names


def first_sentence(docstring: str) -> str:
    """Return the first sentence of a docstring on one line."""
    paragraph = docstring.strip().split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=[.?!])\s", paragraph)[0]


def begins_with_question(sentence: str) -> bool:
    """Return whether the first word of a sentence is a question word."""
    return re.split(r"\W", sentence, maxsplit=1)[0] in QUESTION_WORDS


def has_section(docstring: str) -> bool:
    """Return whether a docstring has a numpy-style section."""
    return bool(SECTION.search(docstring))


def constructs(node: ast.AST) -> Iterator[str]:
    """Name what is counted in a node of the syntax tree."""
    if isinstance(node, ast.stmt):
        yield "statements"
    if isinstance(node, ast.IfExp):
        yield "conditional expressions"
    elif isinstance(node, COMPREHENSIONS):
        yield "comprehensions"
        if len(node.generators) > 1:
            yield "nested comprehensions"
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        yield from assignments(node)
    elif isinstance(node, ast.Call) and len(node.args) >= MANY_POSITIONAL:
        yield "calls with six positional arguments"


def assignments(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    """Name what is counted in an assignment."""
    if isinstance(node.value, ast.Lambda):
        yield "named lambdas"
    if isinstance(node.value, ast.Tuple) and isinstance(targets_of(node)[0], ast.Tuple):
        yield "tuple assignments"


def targets_of(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    """Return what an assignment assigns to."""
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def assigned(node: ast.Module | ast.ClassDef) -> list[str]:
    """Return the names that the body of a module or class assigns, tuples included."""
    names = []
    for statement in node.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            for target in targets_of(statement):
                names += [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
    return names


def functions_in(node: ast.AST, prefix: str = "") -> Iterator[Function]:
    """Yield all functions below a node, named by all that they stand in."""
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, (ast.ClassDef, *FUNCTIONS)):
            name = f"{prefix}.{child.name}".removeprefix(".")
        if isinstance(child, FUNCTIONS):
            yield Function(name, length(child), complexity(child))
        yield from functions_in(child, name)


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines a function has, without those of its docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function):
        lines -= function.body[0].end_lineno - function.body[0].lineno + 1
    return lines


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return radon's cyclomatic complexity of a function, without that of its closures."""
    from radon.visitors import ComplexityVisitor

    return ComplexityVisitor.from_ast(function).functions[0].complexity


def words_of(node: ast.AST) -> list[str]:
    """Return the names and words that stand in a node itself."""
    texts = [value for _, value in ast.iter_fields(node) if isinstance(value, str)]
    return re.findall(r"\w+", " ".join(texts))
