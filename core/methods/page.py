"""Generator of the Markdown page of all operators and methods, from catalogue and docstrings."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator

from core.methods.catalogue import Method, published_methods
from core.methods.model_needs import needed_models
from core.operators import OPERATORS
from core.operators.base import RETRIEVAL_STAGES, Operator
from core.parameters import Parameter, parameters

MIN_USES_OF_NUMBER = 4  # a paper with fewer methods gets no number in the table
MAX_CHANGES = 3  # a line with more differing steps is not described as a change of another one
USUAL_MODELS = ("encoder", "answer")  # roles that most methods use, not listed in the table
PAGE_HEAD = """# Operators and methods

This page lists every operator and every method. It is made from the code: `hopscope \
methods --page`.

    $ hopscope ask "who directed Inception" --no-llm --method \
"PersonalizedPageRank(keep=500) >> ShortestPaths() >> Answer()"

A method is a line of operators. Each operator takes the state of a question and gives a new \
one. Its parameters are the fields of
its form on the Build page, the keys of its TOML row and the arguments of its text form.

| for | see |
|---|---|
| what each parameter of an operator means, its range, the paper, an example | `hopscope \
methods --operator NAME` |
| parameters, papers and examples of all operators | *Operators in full* on the site of `make \
docs` |
| each method's line in full, and the models that are missing for it | `hopscope \
methods --json` |

## Operators
"""
METHODS_HEAD = f"""## Methods

Where a line differs from another row's in up to three steps, these alone are given (`A` for `B`: \
`A` in the
place of `B`). *Asks* names models that the line does not, beside
{" and ".join(f"`{model}`" for model in USUAL_MODELS)}, which most lines use.
"""


def catalogue_page() -> str:
    """Return the page as Markdown.

    It contains only published methods, so it is the same on any machine.
    """
    parts = [PAGE_HEAD, *_operator_tables(), METHODS_HEAD, *_method_table()]
    return "\n".join(parts).rstrip() + "\n"


def operator_text(cls: type[Operator]) -> str:
    """Return the title, the docstring and the parameters of an operator as plain text."""
    title = f"{cls.__name__} ({cls.stage}): {cls.title}"
    rows = [
        f"  {spec.name}={spec.default!r}  {spec.label}: {spec.help} {_value_range(spec)}".rstrip()
        for spec in parameters(cls)
    ]
    lines = [title, _reads_and_writes(cls), "", inspect.getdoc(cls) or "", "", *rows]
    return "\n".join(lines).rstrip() + "\n"


def _operator_tables() -> Iterator[str]:
    """Yield the lines of a table of operators for each stage that has any."""
    for stage in RETRIEVAL_STAGES:
        classes = [cls for cls in OPERATORS.values() if cls.stage == stage]
        if not classes:
            continue
        yield f"### {stage}\n"
        yield "| operator | does | reads → writes | parameters |"
        yield "|---|---|---|---|"
        for cls in classes:
            defaults = ", ".join(f"{spec.name}={spec.default!r}" for spec in parameters(cls))
            defaults_cell = f"`{defaults}`" if defaults else ""
            yield _table_row(
                f"`{cls.__name__}`", _summary(cls), _reads_and_writes(cls), defaults_cell
            )
        yield ""


def _summary(cls: type[Operator]) -> str:
    """Return the first paragraph of an operator's docstring."""
    return (inspect.getdoc(cls) or "").partition("\n\n")[0]


def _reads_and_writes(cls: type[Operator]) -> str:
    """Return the fields that an operator with its defaults reads and writes."""
    operator = cls()  # for some operators, the fields depend on the parameters
    return f"{', '.join(operator.reads)} → {', '.join(operator.writes)}".strip()


def _value_range(parameter: Parameter) -> str:
    """Return the choices or the range of a parameter as text; empty without either."""
    if parameter.choices:
        return ", ".join(parameter.choices)
    if parameter.low is None and parameter.high is None:
        return ""
    low = "" if parameter.low is None else f"{parameter.low:,g}"
    high = "" if parameter.high is None else f"{parameter.high:,.12g}"
    return f"{low}–{high}"


def _method_table() -> Iterator[str]:
    """Yield a line of numbered sources, and a table. The table has a bold row before each group."""
    groups: dict[str, list[Method]] = {}
    counts = Counter[str]()
    for method in published_methods().values():
        groups.setdefault(method.group, []).append(method)
        counts[work_of(method.paper)] += 1
    works = [work for work, count in counts.items() if count >= MIN_USES_OF_NUMBER]
    yield "Sources: " + "; ".join(f"[{n}] {work}" for n, work in enumerate(works, 1)) + ".\n"
    yield "| name, id | method | line | source |"
    yield "|---|---|---|---|"
    full_methods: list[Method] = []
    for group, methods in groups.items():
        yield f"| **{_table_cell(group)}** | | | |"
        for method in methods:
            yield _method_row(method, full_methods, works)


def _method_row(method: Method, full_methods: list[Method], works: list[str]) -> str:
    """Return the table row of a method.

    Its line is described as a change of one of `full_methods`. If that is not possible, it is
    written in full, and the method is added to `full_methods`. `works` are the numbered sources.
    """
    source = method.paper
    for number, work in enumerate(works, 1):
        source = re.sub(rf"(the )?\b{re.escape(work)}(,|\b)", f"[{number}]", source, count=1)
    heading = method.label
    # the parts of the secondary name that the other cells do not show yet
    words_shown = set(
        re.findall(r"\w+", f"{' '.join(method.typed_names)} {heading} {source} no v1".lower())
    )
    new_parts = [
        part
        for part in method.secondary_name.split(", ")
        if not words_shown.issuperset(re.findall(r"\w+", part.lower()))
    ]
    if new_parts:
        heading += f" ({', '.join(new_parts)})"
    descriptions = [_describe_changes(base, method) for base in full_methods]
    line = min(filter(None, descriptions), key=len, default="")
    if not line:
        full_methods.append(method)
        line = f"`{method.line!r}`"
    unnamed_models = [
        f"`{model}`"
        for model in needed_models(method.line)
        if model not in USUAL_MODELS and model not in repr(method.line)
    ]
    if unnamed_models:
        line += f" Asks {', '.join(unnamed_models)}"
    names = ", ".join(f"`{name}`" for name in method.typed_names)
    return _table_row(names, heading, line, source)


def _describe_changes(base: Method, method: Method) -> str:
    """Describe the line of a method by its changed steps.

    They are the steps in which it differs from that of `base`. The text is empty if there are too
    many such steps, or if it is longer than the line.
    """
    pairs = [(old, new) for old, new in zip(base.line, method.line) if repr(old) != repr(new)]
    if len(base.line) != len(method.line) or len(pairs) > MAX_CHANGES:
        return ""
    kinds = list(map(type, base.line))
    steps = []
    for old, new in pairs:
        if kinds.count(type(old)) > 1:  # the class does not say which step is meant
            return ""
        steps.append(f"`{new!r}`" if type(old) is type(new) else f"`{new!r}` for `{old!r}`")
    text = f"`{base.typed_name}` with {', '.join(steps)}"
    return text if len(text) < len(repr(method.line)) else ""


def work_of(source: str) -> str:
    """Return the paper or program that a source names.

    The section or table in it is left out.

    >>> from core.methods.page import work_of
    >>> work_of("LEGO-GraphRAG, technical report, No. 2 (SAE-EEMs)"), work_of("FastInsight, IRCoT")
    ('LEGO-GraphRAG, technical report', 'FastInsight')
    """
    parts = re.split(r"[,;:] (?=No\.|[A-Z]\.\d|[Tt]able|[Ss]ection|[Ff]igure|v1)", source)
    return parts[0] if len(parts) > 1 else source.split(", ")[0]


def _table_row(*cells: str) -> str:
    return "| " + " | ".join(map(_table_cell, cells)) + " |"


def _table_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
