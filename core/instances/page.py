"""The operators and the instances as one page of Markdown, made from the catalogue and the docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from core.instances.catalogue import Instance, published
from core.instances.needs import needed
from core.operators import OPERATORS
from core.operators.base import STAGES, Operator
from core.parameters import Parameter, parameters

HEAD = """# Operators and instances

This page is made from the code: `python -m core instances --page > docs/operators-and-instances.md`.

An instance is a line of operators. Each operator takes the state of a question and gives a new one; its parameters are the fields of
its form on the Build page, the keys of its TOML row and the arguments of its text form, `PersonalizedPageRank(keep=500)`.

The examples are run by the tests (tests/test_examples_in_docstrings.py) on `toy`, a graph of five nodes: A -> r0 -> B, A -> r1 -> C,
B -> r2 -> C, C -> r3 -> A, C -> r4 -> D, E -> r5 -> A, D -> r6 -> D.
"""


def page() -> str:
    """The whole page, the same for the same code on any machine: no instance or retriever of a person's own is in it."""
    return (
        "\n".join(
            [HEAD, "## Operators", "", *_operators(), "## Instances", "", *_instances()]
        ).rstrip()
        + "\n"
    )


def _operators() -> Iterator[str]:
    for stage in STAGES:
        for cls in (cls for cls in OPERATORS.values() if cls.stage == stage):
            yield from (
                f"### {cls.__name__}",
                "",
                f"*{stage}*, {cls.title}. {_flow(cls)}",
                "",
                _description(cls),
                "",
            )
            if parameters(cls):
                yield from ("| parameter | default | |", "|---|---|---|")
                yield from (
                    f"| `{p.name}` | `{p.default!r}` | {_cell(_meaning(p))} |"
                    for p in parameters(cls)
                )
                yield ""


def _description(cls: type[Operator]) -> str:
    """The docstring, its example as code."""
    text, mark, example = (inspect.getdoc(cls) or "").partition("\n>>> ")
    return f"{text.rstrip()}\n\n```python\n>>> {example}\n```" if mark else text


def _flow(cls: type[Operator]) -> str:
    usual = cls()  # what some read depends on their parameters
    writes = f"writes {', '.join(usual.writes)}."
    return f"Reads {', '.join(usual.reads)}; {writes}" if usual.reads else writes.capitalize()


def _meaning(parameter: Parameter) -> str:
    """The label and the help of a parameter, with its choices or its range."""
    limits = [
        f"{word} {limit:g}"
        for word, limit in (("from", parameter.low), ("to", parameter.high))
        if limit is not None
    ]
    allowed = " or ".join(parameter.choices) or " ".join(limits)
    return f"{parameter.label}: {parameter.help}" + (f" ({allowed})" if allowed else "")


def _instances() -> Iterator[str]:
    groups: dict[str, list[Instance]] = {}
    for instance in published().values():
        groups.setdefault(instance.group, []).append(instance)
    for group, rows in groups.items():
        yield from (
            f"### {group}",
            "",
            "| id | method | line | models | source |",
            "|---|---|---|---|---|",
        )
        for one in rows:
            name = one.label + (f" ({one.number})" if one.number else "")
            models = ", ".join(f"`{model}`" for model in needed(one.line))
            yield f"| `{one.id}` | {_cell(name)} | `{_cell(repr(one.line))}` | {_cell(models)} | {_cell(one.paper)} |"
        yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
