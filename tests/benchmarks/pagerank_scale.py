"""Methods of personalised PageRank on synthetic graphs of any size, compared with igraph.

    python -m tests.benchmarks pagerank --nodes 1000000 [10000000 ...] [--methods auto fora]
        [--json] [--plot FILE]

It measures time, recall of the exact top 1,000, edges and memory. Push runs once per question
before it is timed; the store benchmark measures the first question with nothing in memory.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

KEEP, DAMPING, DIRECTION = 1000, 0.8, "both"
STRATA = ("ordinary", "hubs", "mixed")
EACH, FEW = 17, 2  # Questions of a stratum: by push, and by methods that take seconds.
HUBS = 1000  # The nodes of highest degree, from which hubs are drawn.
IGRAPH = 10_000_000  # Largest number of nodes for igraph, which needs 6.5 GiB for it.
# Above this number of nodes, exact results are computed for this many questions per stratum: an
# hour at 100 million.
SMALL, CHECKED = (1_000_000, 5)
COLUMNS = tuple(
    (
        "nodes,method,stratum,questions,median ms,p95 ms,cpu ms,recall,least,checked,edges,peak "
        "MiB,unsettled"
    ).split(",")
)


def main(argv: list[str]) -> None:
    """Print the table or JSON, and write the plot."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks pagerank")
    parser.add_argument(
        "--nodes",
        type=int,
        nargs="+",
        required=True,
        help="sizes of graphs; each has three times as many triples",
    )
    parser.add_argument(
        "--methods", nargs="+", default=["auto"], help="auto fora topppr rbs partition"
    )
    parser.add_argument(
        "--questions", type=int, default=EACH, help=f"of each stratum by push (others: {FEW})"
    )
    parser.add_argument(
        "--igraph", type=int, default=FEW, help="questions of each stratum that igraph answers too"
    )
    parser.add_argument("--recall", type=float, default=0.97)
    parser.add_argument(
        "--folder",
        default=str(Path(tempfile.gettempdir()) / "hopscope-scale"),
        help="where graphs and exact answers are kept",
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--plot", metavar="FILE", help="an HTML file: cost against size at this recall"
    )
    options = parser.parse_args(argv)
    rows = [row for nodes in options.nodes for row in GraphBenchmark(nodes, options).rows()]
    print(json.dumps(rows, indent=2) if options.json else table(rows))
    if options.plot:
        plot(rows, options.recall, options.plot)


class GraphBenchmark:
    """One graph, its questions by stratum, and their exact results."""

    def __init__(self, nodes: int, options: argparse.Namespace):
        from tests.benchmarks.synthetic import store

        self.options, self.nodes, self.folder = options, nodes, Path(options.folder) / str(nodes)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.graph = store(nodes, self.folder / "graph")
        self.questions = strata(self.graph, options.questions)

    def rows(self) -> list[dict]:
        """A row for each method and stratum, igraph last."""
        found = []
        self._seek(
            [
                question
                for some in self.questions.values()
                for question in (some if self.nodes <= SMALL else some[:CHECKED])
            ]
        )
        for method in self.options.methods:
            self._ours(method, self.questions["ordinary"][0])  # This compiles and prepares.
            for stratum, questions in self.questions.items():
                some = questions if method == "auto" else questions[:FEW]
                for question in some if method == "auto" else ():
                    # Afterwards the memory-mapped parts of the graph are in memory.
                    self._ours(method, question)
                found.append(
                    self._row(
                        method, stratum, [self._ours(method, question) for question in some], some
                    )
                )
        if self.options.igraph and self.nodes <= IGRAPH:
            found += self._igraph()
        return found

    def _ours(self, method: str, question: tuple[int, ...]) -> dict:
        from core.graph.pagerank.top_nodes import PageRankReport, top_pagerank

        before, report = reset_peak(), PageRankReport()
        wall, cpu = time.perf_counter(), time.thread_time()
        nodes, _ = top_pagerank(
            self.graph,
            question,
            KEEP,
            DAMPING,
            DIRECTION,
            method,
            self.options.recall,
            report=report,
        )
        spent = dict(ms=(time.perf_counter() - wall) * 1e3, cpu=(time.thread_time() - cpu) * 1e3)
        memory = None if before is None else max(0, peak() - before)
        return dict(spent, nodes=nodes, edges=report.edges, memory=memory, settled=report.settled)

    def _igraph(self) -> list[dict]:
        import igraph

        graph = self.graph
        before = reset_peak()
        peer = igraph.Graph(
            graph.n_nodes, np.column_stack([graph.heads, graph.tails]), directed=True
        )
        rows = []
        for stratum, questions in self.questions.items():
            runs, some = [], questions[: self.options.igraph]
            for question in some:
                wall, cpu = time.perf_counter(), time.thread_time()
                scores = np.array(
                    peer.personalized_pagerank(
                        directed=False, damping=DAMPING, reset_vertices=list(question)
                    )
                )
                spent = dict(
                    ms=(time.perf_counter() - wall) * 1e3, cpu=(time.thread_time() - cpu) * 1e3
                )
                best = np.argpartition(-scores, KEEP)[:KEEP]
                runs.append(
                    dict(
                        spent,
                        nodes=best,
                        edges=0,
                        memory=None if before is None else peak() - before,
                        settled=True,
                    )
                )
            rows.append(self._row("igraph", stratum, runs, some))
        return rows

    def _row(
        self, method: str, stratum: str, runs: list[dict], questions: list[tuple[int, ...]]
    ) -> dict:
        known = [
            (np.load(file), run["nodes"])
            for question, run in zip(questions, runs)
            if (file := self._file(question)).exists()
        ]
        recalls = [min(1.0, len(np.intersect1d(nodes, best)) / KEEP) for best, nodes in known]
        times, memory = (
            [run["ms"] for run in runs],
            [run["memory"] for run in runs if run["memory"] is not None],
        )
        values = (
            self.nodes,
            method,
            stratum,
            len(runs),
            statistics.median(times),
            float(np.quantile(times, 0.95)),
            statistics.median(run["cpu"] for run in runs),
            statistics.fmean(recalls),
            min(recalls),
            len(recalls),
            statistics.median(run["edges"] for run in runs),
            max(memory) / 2**20 if memory else None,
            sum(not run["settled"] for run in runs),
        )
        return dict(zip(COLUMNS, values))

    def _file(self, question: tuple[int, ...]) -> Path:
        """The file of a question's exact results."""
        name = hashlib.sha256(
            f"{self.graph.digest} {question} {KEEP} {DAMPING} {DIRECTION}".encode()
        ).hexdigest()[:24]
        return self.folder / f"exact-{name}.npy"

    def _seek(self, questions: list[tuple[int, ...]]) -> None:
        """Compute and save missing exact results."""
        from tests.benchmarks.truth import best_nodes

        left = [question for question in questions if not self._file(question).exists()]
        for question, nodes in zip(
            left,
            best_nodes(self.graph, left, KEEP, DAMPING, lambda text: print(text, file=sys.stderr)),
        ):
            np.save(self._file(question), nodes)


def reset_peak() -> int | None:
    """Reset the peak memory of the process and return its current bytes.

    Returns None where the system does not support it.
    """
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return None
    return peak()


def peak() -> int:
    """Peak memory in bytes since the last reset."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def strata(graph, each: int) -> dict[str, list[tuple[int, ...]]]:
    """Ordinary nodes, hubs, and hubs with two ordinary nodes, the same for a graph in every run."""
    degrees = np.diff(graph.out_indptr) + np.diff(graph.in_indptr)
    rng, order = np.random.default_rng(0), np.argsort(-degrees, kind="stable")
    hubs, others = order[:HUBS], order[HUBS : int(np.sum(degrees > 0))]
    pick = lambda among, count: rng.choice(among, (count,), replace=False).tolist()
    ordinary, best = pick(others, each), pick(hubs, each)
    mixed = list(zip(pick(hubs, each), pick(others, each), pick(others, each)))
    return dict(zip(STRATA, ([(node,) for node in ordinary], [(node,) for node in best], mixed)))


def table(rows: list[dict]) -> str:
    """The rows under their columns, and the speed of push relative to igraph where both ran."""
    cells = [list(COLUMNS)] + [[_cell(row[column]) for column in COLUMNS] for row in rows]
    widths = [max(len(line[at]) for line in cells) for at in range(len(COLUMNS))]
    lines = ["  ".join(text.rjust(width) for text, width in zip(line, widths)) for line in cells]
    by = {(row["nodes"], row["stratum"], row["method"]): row for row in rows}
    for (nodes, stratum, method), row in by.items():
        peer = by.get((nodes, stratum, "igraph"))
        if method == "auto" and peer:
            wall, cpu = peer["median ms"] / row["median ms"], peer["cpu ms"] / row["cpu ms"]
            lines.append(
                f"{nodes:,} nodes, {stratum}: push is {wall:,.0f} times faster than igraph, "
                f"{cpu:,.0f} times in processor time"
            )
    return "\n".join(lines)


def _cell(value) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def plot(rows: list[dict], recall: float, file: str) -> None:
    """Plot median milliseconds of each method and stratum by graph size, on logarithmic axes."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for method, stratum in dict.fromkeys((row["method"], row["stratum"]) for row in rows):
        some = sorted(
            (row for row in rows if (row["method"], row["stratum"]) == (method, stratum)),
            key=lambda row: row["nodes"],
        )
        said = [f"recall {row['recall']:.3f}, {row['edges']:,.0f} edges" for row in some]
        figure.add_scatter(
            x=[row["nodes"] for row in some],
            y=[row["median ms"] for row in some],
            name=f"{method}, {stratum}",
            text=said,
            mode="lines+markers",
        )
    figure.update_xaxes(type="log", title="nodes (three triples each)")
    figure.update_yaxes(type="log", title="milliseconds a question, median")
    figure.update_layout(
        title=f"Personalised PageRank, best {KEEP:,}, recall {recall} asked of push",
        template="plotly_white",
    )
    figure.write_html(file, include_plotlyjs=True)
