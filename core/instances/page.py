"""The operators and the instances as one page of Markdown, made from the catalogue and the docstrings."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator

from core.instances.catalogue import Instance, published
from core.instances.needs import needed
from core.operators import OPERATORS
from core.operators.base import STAGES, Operator
from core.parameters import Parameter, parameters

MIN_HELP_WORDS = 6  # a shorter help is read with its label before it
MIN_USES_OF_NUMBER = 4  # a source of fewer instances is written out
USUAL_MODELS = ("encoder", "answer")
HEAD = """# Operators and instances

This page lists every operator, its parameters, and every instance. It is made from the code: `python -m core instances --page`.

    $ python -m core ask "who directed Inception" --no-llm --instance "PersonalizedPageRank(keep=500) >> ShortestPaths() >> Answer()"

An instance is a line of operators. Each operator takes the state of a question and gives a new one. Its parameters are the fields of
its form on the Build page, the keys of its TOML row and the arguments of its text form.

`python -m core instances --operator NAME` prints the whole docstring of an operator: its paper, where the paper and its code differ, and
an example that the tests run. The site that `make docs` makes has all of them under *Operators in full*.
"""
PARAMETERS_HEAD = """## Parameters

Defaults are in the tables above; values or a range are in brackets. Several operators share these:"""
INSTANCES_HEAD = f"""## Instances

Models are those beside {" and ".join(f"`{model}`" for model in USUAL_MODELS)}, the roles that most lines use."""


def page() -> str:
    """Return the whole page; it has nothing of a person's own, so it is the same on any machine."""
    parts = [
        HEAD,
        "## Operators\n",
        *_operators(),
        PARAMETERS_HEAD,
        "",
        *_parameters(),
        "",
        INSTANCES_HEAD,
        "",
        *_instances(),
    ]
    return "\n".join(parts).rstrip() + "\n"


def operator_text(cls: type[Operator]) -> str:
    """Return the title, the docstring and the parameters of an operator as plain text."""
    lines = [
        f"{cls.__name__} ({cls.stage}): {cls.title}",
        _flow(cls),
        "",
        inspect.getdoc(cls) or "",
    ]
    rows = [
        f"  {one.name}={one.default!r}  {one.label}: {one.help} {_values(one)}".rstrip()
        for one in parameters(cls)
    ]
    return "\n".join([*lines, "", *rows]).rstrip() + "\n"


def _operators() -> Iterator[str]:
    for stage in STAGES:
        classes = [cls for cls in OPERATORS.values() if cls.stage == stage]
        if not classes:
            continue
        yield f"### {stage}\n"
        yield "| operator | does | reads → writes | parameters |"
        yield "|---|---|---|---|"
        for cls in classes:
            defaults = ", ".join(f"{one.name}={one.default!r}" for one in parameters(cls))
            cells = (
                f"`{cls.__name__}`",
                _summary(cls),
                _flow(cls),
                f"`{defaults}`" * bool(defaults),
            )
            yield _row(*cells)
        yield ""


def _summary(cls: type[Operator]) -> str:
    """Return the first paragraph of an operator's docstring."""
    return (inspect.getdoc(cls) or "").partition("\n\n")[0]


def _flow(cls: type[Operator]) -> str:
    usual = cls()  # what some read depends on their parameters
    return f"{', '.join(usual.reads)} → {', '.join(usual.writes)}".strip()


def _parameters() -> Iterator[str]:
    """Yield a table of the parameters that several operators share, and one of the others."""
    users: dict[tuple[str, str], list[str]] = {}
    for cls in OPERATORS.values():
        for one in parameters(cls):
            users.setdefault((one.name, _meaning(one)), []).append(cls.__name__)
    shared = {key: names for key, names in users.items() if len(names) > 1}
    yield "| parameter | operators | means |"
    yield "|---|---|---|"
    for (name, meaning), names in sorted(shared.items()):
        yield _row(f"`{name}`", ", ".join(f"`{one}`" for one in names), meaning)
    yield ""
    yield "The others belong to one operator:\n"
    yield "| operator | parameter | means |"
    yield "|---|---|---|"
    for cls in OPERATORS.values():
        title = f"`{cls.__name__}`"
        for one in parameters(cls):
            if (one.name, _meaning(one)) not in shared:
                yield _row(title, f"`{one.name}`", _meaning(one))
                title = ""


def _meaning(parameter: Parameter) -> str:
    """Return the help of a parameter and its values, with its label where the help is short."""
    text = parameter.help
    if len(text.split()) < MIN_HELP_WORDS:
        text = f"{parameter.label}: {text}"
    unsaid = [choice for choice in parameter.choices or () if choice not in text]
    values = _values(parameter) if unsaid or not parameter.choices else ""
    return f"{text.removesuffix('.')} ({values})" if values else text.removesuffix(".")


def _values(parameter: Parameter) -> str:
    """Return the choices or the range of a parameter."""
    if parameter.choices:
        return ", ".join(parameter.choices)
    if parameter.low is None and parameter.high is None:
        return ""
    low = "" if parameter.low is None else f"{parameter.low:,g}"
    high = "" if parameter.high is None else f"{parameter.high:,.12g}"
    return f"{low}–{high}"


def _instances() -> Iterator[str]:
    """Yield the numbered sources and one table, with a row in bold before each group."""
    groups: dict[str, list[Instance]] = {}
    for instance in published().values():
        groups.setdefault(instance.group, []).append(instance)
    counts = Counter(work_of(one.paper) for one in published().values())
    works = [work for work, count in counts.items() if count >= MIN_USES_OF_NUMBER]
    yield "Sources: " + "; ".join(f"[{n}] {work}" for n, work in enumerate(works, 1)) + ".\n"
    yield "| id | method | line | models | source |"
    yield "|---|---|---|---|---|"
    for group, rows in groups.items():
        yield f"| **{_cell(group)}** | | | | |"
        for one in rows:
            yield _instance_row(one, works)


def _instance_row(instance: Instance, works: list[str]) -> str:
    source = instance.paper
    work = work_of(source)
    if work in works:
        source = f"[{works.index(work) + 1}]{source[len(work) :].replace(',', '', 1)}"
    method = instance.label
    parts = instance.number.split(", ") if instance.number else []
    unsaid = [part for part in parts if part not in f"{method} {source}"]
    if unsaid:
        method += f" ({', '.join(unsaid)})"
    models = [f"`{model}`" for model in needed(instance.line) if model not in USUAL_MODELS]
    return _row(f"`{instance.id}`", method, f"`{instance.line!r}`", ", ".join(models), source)


def work_of(source: str) -> str:
    """Return the paper or program of a source, without the place in it.

    >>> from core.instances.page import work_of
    >>> work_of("LEGO-GraphRAG, technical report, No. 2 (SAE-EEMs)"), work_of("FastInsight, IRCoT")
    ('LEGO-GraphRAG, technical report', 'FastInsight')
    """
    parts = re.split(r"[,;:] (?=No\.|[A-Z]\.\d|[Tt]able|[Ss]ection|[Ff]igure|v1)", source)
    return parts[0] if len(parts) > 1 else source.split(", ")[0]


def _row(*cells: str) -> str:
    return "| " + " | ".join(_cell(one) for one in cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
