"""Command `methods`: list the methods of the catalogue."""

from __future__ import annotations

from core.commands.terminal import EXIT_OK, add_switch, one_line_advice, print_json, warn
from core.errors import BadInput, shorten, suggest_name
from core.methods.catalogue import catalogue, own_file_faults
from core.methods.model_needs import missing_models
from core.methods.page import catalogue_page, operator_text
from core.models.registry import Registry
from core.operators import OPERATORS

NAME_COLUMNS = 32  # characters of the first column; longer names shift their line


def add_command(subparsers) -> None:
    """Add the command and its options."""
    methods = subparsers.add_parser("methods")
    methods.add_argument("--json", action="store_true")
    add_switch(methods, "--page", "print docs/operators-and-methods.md")
    methods.add_argument(
        "--operator",
        metavar="NAME",
        help="print what an operator does, with its paper and parameters",
    )
    methods.set_defaults(run=run)


def run(options) -> int:
    """List every method and return the exit code."""
    if options.page:
        print(catalogue_page(), end="")
        return EXIT_OK
    if options.operator is not None:
        return _print_operator(options.operator)
    registry = Registry()
    rows = [
        {
            "id": method.id,
            "name": method.typed_name,
            "aliases": method.typed_names[1:],
            "title": method.title,
            "paper": method.paper,
            "group": method.group,
            "line": repr(method.line),
            "missing": missing_models(method.line, registry),
        }
        for method in catalogue().values()
    ]
    warn(f"left out: {sentence}" for sentence in (*own_file_faults(), *registry.faults()))
    if options.json:
        print_json(rows)
    else:
        for row in rows:
            former_id = "".join(f" ({alias})" for alias in row["aliases"])
            print(f"{row['name']:{NAME_COLUMNS}} {row['title']}{former_id}")
            for sentence in row["missing"]:
                print(f"{'':{NAME_COLUMNS}} cannot run yet: {one_line_advice(sentence)}")
    return EXIT_OK


def _print_operator(name: str) -> int:
    """Print an operator's docstring and parameters."""
    if name not in OPERATORS:
        hint = suggest_name(name, OPERATORS)
        raise BadInput(f"There is no operator “{shorten(name, 40)}”.{hint}")
    print(operator_text(OPERATORS[name]), end="")
    return EXIT_OK
