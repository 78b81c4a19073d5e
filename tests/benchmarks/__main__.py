"""Run all benchmarks, or those named: `python -m tests.benchmarks [pagerank encoding retrieval chains against price votes memory adviser
linking reader influence documents fastinsight builds compose screen start] [--json]`.

`generate` makes synthetic graphs, `store` measures building and looking up in them, `visitors` and `crowd` many people at once, `pages`
what a page costs, `faults` kills and full disks, `threads` how threads that wait may share a machine, `methods` makes the tables of
methods on documents, `documents --documents N,N` builds graphs of so many, asks and changes them, `server` how fast a server answers,
`updates` what a change of documents costs a graph, `peers` the same beside other programs, `quick` what quick lines lose and save,
`install` how large a clean install of the wheel is, `neighbours` the search over millions of vectors, and `gold` how good extracted
graphs are beside a gold made by hand; their `--help` tells their own options, as that of `screen` does."""

from __future__ import annotations

import argparse
import importlib
import json
import sys

ALL = (
    "start",
    "pagerank",
    "encoding",
    "retrieval",
    "chains",
    "against",
    "price",
    "votes",
    "memory",
    "adviser",
    "linking",
    "reader",
    "influence",
    "documents",
    "fastinsight",
    "builds",
    "extraction",
    "compose",
    "screen",
)
# commands with options of their own
APART = (
    "generate",
    "store",
    "visitors",
    "crowd",
    "pages",
    "faults",
    "threads",
    "methods",
    "walks",
    "graphics_card",
    "server",
    "updates",
    "peers",
    "quick",
    "install",
    "neighbours",
    "gold",
)


def main() -> None:
    """Print one table: what was measured, its median, the limit to hold it against, and the spread."""
    if sys.argv[1:] and (sys.argv[1] in APART or (sys.argv[1] == "screen" and sys.argv[2:])):
        importlib.import_module(f"tests.benchmarks.{sys.argv[1]}").main(sys.argv[2:])
        return
    if sys.argv[1:2] == ["pagerank"] and any(word.startswith("--nodes") for word in sys.argv):
        importlib.import_module("tests.benchmarks.pagerank_scale").main(sys.argv[2:])
        return
    if sys.argv[1:2] == ["documents"] and sys.argv[2:] and sys.argv[2:] != ["--json"]:
        importlib.import_module("tests.benchmarks.documents_scale").main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(ALL)} (default: all)"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for name in options.names or ALL:
        if name not in ALL:
            parser.error(f"there is no benchmark “{name}”; there are {', '.join(ALL)}")
        rows += importlib.import_module(f"tests.benchmarks.{name}").run()
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        print(f"{row['name']:{width}}  {row['value']:>10.4g} {row['unit']:8} {row.get('note', '')}")


main()
