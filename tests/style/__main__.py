"""Print the measurements of the project, check their limits, or write the exceptions anew."""

from __future__ import annotations

import argparse
import sys

from tests.style.limits import (
    COMMAND,
    EXCEPTIONS,
    ROWS,
    needed_exceptions,
    problems,
    read_exceptions,
    shortened,
)
from tests.style.project import Project, read_project


def table(project: Project) -> str:
    """Return the measurements as a table with one column for each package."""
    packages = project.packages.values()
    lines = [line("", [package.name for package in packages])]
    for row in ROWS:
        lines.append(
            line(row.label + row.unit, [number(row.figure(package)) for package in packages])
        )
    per_row = project.packages["core"].counts["code lines"] / project.method_rows
    lines.append(line("rows of the catalogue", [number(project.method_rows)]))
    lines.append(line("code lines of core for each row", [number(per_row)]))
    lines.append(line("names in docstrings that are none", [number(len(project.missing_names))]))
    lines.append(line("words of documents", [number(project.document_words)]))
    return "\n".join(lines)


def line(label: str, cells: list[str]) -> str:
    """Return a line of the table."""
    return f"{label:55}" + "".join(f"{cell:>10}" for cell in cells)


def number(figure: float) -> str:
    """Return a figure with the digits that matter."""
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:,.2f}"


def write_exceptions(project: Project, allow_more: bool) -> None:
    """Write the file of exceptions anew, with new ones where these are allowed."""
    needed = needed_exceptions(project)
    before = read_exceptions(EXCEPTIONS.read_text("utf-8") if EXCEPTIONS.exists() else "")
    after = needed if allow_more else shortened(before, needed)
    EXCEPTIONS.write_text(after.text(), "utf-8")
    print(f"{len(before)} exceptions before, {len(after)} now")


def check(project: Project) -> int:
    """Print what is against the limits, and return the exit status."""
    found = problems(project, read_exceptions(EXCEPTIONS.read_text("utf-8")))
    if found:
        print(*found, f"Superfluous exceptions are removed by {COMMAND}", sep="\n", file=sys.stderr)
    return bool(found)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.style", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where a limit is not kept")
    parser.add_argument("--exceptions", action="store_true", help="drop exceptions not needed")
    parser.add_argument("--allow-more", action="store_true", help="add exceptions too")
    arguments = parser.parse_args()
    project = read_project()
    if arguments.exceptions:
        write_exceptions(project, arguments.allow_more)
    elif not arguments.check:
        print(table(project))
        return 0
    return check(project)


if __name__ == "__main__":
    sys.exit(main())
