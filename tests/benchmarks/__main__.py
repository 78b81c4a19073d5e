"""Run all benchmarks, or the named ones.

    python -m tests.benchmarks [pagerank encoding retrieval chains against price votes memory
        adviser linking reader influence documents fastinsight builds compose screen start
        graph_map] [--json]

Further commands have options of their own, which their `--help` explains, as does that of `screen`:

- `generate` makes synthetic graphs, and `store` measures builds and lookups in them.
- `visitors` and `crowd` simulate many users at once, and `pages` measures the cost of a page.
- `faults` tests kills and full disks.
- `threads` compares settings for idle threads on a shared machine.
- `methods` makes the tables of methods on documents.
- `pagerank --distributed` compares threads and worker processes with a power iteration.
- `documents --documents N,N` builds, queries and changes graphs of that many documents.
- `server` measures how fast a server answers.
- `updates` measures the cost of changed documents for a graph, `peers` that of other programs.
- `quick` measures the losses and savings of quick lines.
- `static_vectors` fits the static vectors that predict what an encoder scores best.
- `install` measures the size of a clean install of the wheel.
- `neighbours` measures the search over millions of vectors.
- `graph_quality` correlates the quality of graphs with what methods find in them.
- `gold` compares extracted graphs with a hand-made gold standard.
- `audit` plants faults in question sets and measures how many an audit finds.
"""

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
    "graph_map",
)
# Commands with options of their own.
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
    "static_vectors",
    "install",
    "neighbours",
    "graph_quality",
    "gold",
    "audit",
)


def main() -> None:
    """Print a table with each benchmark's name, median, limit and spread."""
    if sys.argv[1:] and (sys.argv[1] in APART or (sys.argv[1] == "screen" and sys.argv[2:])):
        importlib.import_module(f"tests.benchmarks.{sys.argv[1]}").main(sys.argv[2:])
        return
    if sys.argv[1:2] == ["pagerank"] and "--distributed" in sys.argv:
        importlib.import_module("tests.benchmarks.pagerank_parallel").main(sys.argv[2:])
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
