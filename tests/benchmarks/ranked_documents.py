"""Metrics of FastInsight and its baselines on the questions of a corpus.

    python -m tests.benchmarks.ranked_documents cacm

For each method and budget it gives capped recall, nDCG and Topological Recall at 10, and the median
milliseconds of its operators without reranker and encoder; then paired tests of FastInsight against
each other method at the largest budget. `--to FILE` writes the tables between the marks `<!--
CORPUS RERANKER -->` and `<!-- /CORPUS RERANKER -->` of a file.

Token vectors of texts are cached, so that late interaction reads no document twice. Results of each
question are saved in `ranked-documents` of the user folder, so that a stopped run can be resumed.
With `--timed N` the milliseconds are those of the first N questions, asked once more. Methods that
use a language model get only the first questions of the sample, and are compared on these. Methods
without their model on this computer are named below the table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.builds import build_for, run_build
from core.corpus import open_corpus
from core.environment import Environment
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import observe
from core.evaluation.metrics.statistics import estimates, paired_test
from core.finetune.reranker_data import question_half
from core.io.home import home_folder
from core.methods.catalogue import ADAPTED_SUFFIX
from core.methods.model_needs import missing_models
from core.models.registry import Registry
from core.models.scorers import LateInteractionScorer
from core.operators.base import Context
from core.operators.text import parse_line
from core.sources import CorpusSource
from core.types import Question, State
from core.watch import NO_WATCH

METRICS = ("capped_recall@10", "ndcg@10", "topological_recall@10")
BUDGETS = (10, 20, 50, 100)
SEARCH = "EmbedQuery() >> VectorNodes(keep={n})"
GROWING = "EmbedQuery() >> VectorNodes(keep=10) >> GraphRerank(alpha={a})"
KEYWORDS = "ExtractKeywords() >> EmbedQuery(text='low keywords')"
LINES = {
    "Vector Search": (SEARCH, False),
    "BM25": ("SparseNodes(keep={n}, by='bm25')", False),
    "SPLADE": ("LearnedSparseNodes(keep={n})", False),
    "Contriever": (
        "EmbedQuery(encoder='contriever') >> VectorNodes(keep={n}, encoder='contriever')",
        False,
    ),
    "HyDE": ("Hypothesise() >> VectorNodes(keep={n})", False),
    "IRCoT": ("EmbedQuery() >> ReasonAndRetrieve(steps=2, keep=5)", False),
    f"HippoRAG 2{ADAPTED_SUFFIX}": ("EmbedQuery() >> SimilarPageRank(keep={n})", False),
    f"LightRAG{ADAPTED_SUFFIX}": (
        KEYWORDS
        + " >> VectorNodes(keep=60) >> SetAside() >> EmbedQuery(text='high keywords')"
        + " >> VectorNodes(keep=60) >> Merge() >> NeighbourNodes(keep={n}, order='hits first')",
        False,
    ),
    f"PathRAG{ADAPTED_SUFFIX}": (
        (
            "ExtractKeywords() >> EmbedQuery(text='low keywords') >> VectorNodes(keep=40) >> "
            "PairPaths()"
        ),
        False,
    ),
    "Re2": (SEARCH + " >> GraphRerank(alpha=0.0)", True),
    "GAR": (
        "EmbedQuery() >> VectorNodes(keep=100) >> AdaptiveRerank(budget={n}, backfill=False)",
        True,
    ),
    "FastInsight": (
        GROWING.format(a=0.2) + " >> Loop(body=ExpandNodes() >> GraphRerank(), budget={n})",
        True,
    ),
    "FastInsight, alpha 0": (
        GROWING.format(a=0.0)
        + " >> Loop(body=ExpandNodes() >> GraphRerank(alpha=0.0), budget={n})",
        True,
    ),
    "FastInsight, beta 0": (
        GROWING.format(a=0.2) + " >> Loop(body=ExpandNodes(beta=0.0) >> GraphRerank(), budget={n})",
        True,
    ),
}
OURS = "FastInsight"
ROLE = "cross-encoder"  # The model role of the operators.
MODEL_QUESTIONS = 52  # Questions for methods that use a language model: all of CACM.
BY_CHAT = ("HyDE", "IRCoT")
READING = ("EmbedQuery", "ExtractKeywords", "Hypothesise")  # Operators that read the question.


class CachedTokenEncoder:
    """The encoder with cached token vectors of texts in half precision."""

    def __init__(self, encoder: Any):
        self.encoder, self.known = encoder, dict[str, np.ndarray]()

    def encode_tokens(self, texts, watch=NO_WATCH):
        missing = [text for text in dict.fromkeys(texts) if text not in self.known]
        for places, vectors in self.encoder.encode_tokens(missing, watch):
            self.known[missing[places[0]]] = vectors.astype(np.float16)
        for place, text in enumerate(texts):
            yield [place], self.known[text].astype(np.float32)


class OncePerQuestionScorer:
    """A scorer that scores each text once per question."""

    def __init__(self, scorer: Any):
        self.scorer, self.query, self.known = scorer, "", dict[str, float]()

    def score(self, task, texts):
        if task.query != self.query:
            self.query, self.known = task.query, {}
        missing = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.known |= zip(missing, self.scorer.score(task, missing))
        return np.array([self.known[text] for text in texts])


class RankedDocumentModels:
    """The declared models, with one reranker for all methods.

    It is late interaction over cached vectors, or a cross-encoder.
    """

    def __init__(self, reranker: str) -> None:
        self.registry = Registry()
        late = self.registry.resolve(reranker).backend == "late-interaction"
        if late:
            self.reranker = OncePerQuestionScorer(
                LateInteractionScorer(CachedTokenEncoder(self.registry.encoder()))
            )
        else:
            self.reranker = self.registry.scorer(reranker)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.registry, name)

    def chooser(self, expression: str) -> Any:
        return self.reranker if expression == ROLE else self.registry.chooser(expression)


def run_line(line: str, question: Question, context: Context) -> tuple[State, float]:
    """Last state of a line, and seconds of its operators without those of models."""
    state = State(question)
    for operator in parse_line(line):
        state = operator(state, context)
    beside = sum(
        step.seconds - step.ranking - step.model
        for step in state.trace
        if step.operator not in READING
    )
    return state, beside


class SavedAnswers:
    """Saved results, as one line of JSON for each question and method.

    The first line names the data and the models.
    """

    def __init__(self, file: Path, about: str):
        self.file, self.rows = file, dict[tuple[str, str], list[dict[str, Any]]]()
        lines = []
        if file.is_file():
            lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        if lines and lines[0] == about:
            self.rows = {(one["question"], one["line"]): one["rows"] for one in lines[1:]}
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(about) + "\n", "utf-8")

    def add(self, question: str, line: str, rows: list[dict[str, Any]]) -> None:
        """Save the rows of a question and a method's line."""
        self.rows[question, line] = rows
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"question": question, "line": line, "rows": rows}) + "\n")


@dataclass(frozen=True)
class RankingFigures:
    """Metrics and median milliseconds per method and budget, a description, and missing methods.

    Values are float64 [questions, metrics].
    """

    values: dict[tuple[str, int], np.ndarray]
    milliseconds: dict[tuple[str, int], float]
    about: str
    missing: tuple[str, ...]


def figures(
    corpus_name: str,
    most: int,
    reranker: str,
    unseen: bool,
    few: int = MODEL_QUESTIONS,
    timed: int = 0,
) -> RankingFigures:
    """Metrics of a corpus's questions.

    With `unseen` only questions count on which no reranker was trained here. Milliseconds were
    measured when each question was first asked. With `timed`, methods without a language model are
    timed now on that many questions, since runs of hours next to other work give unreliable times.

    The questions have a fixed random order, so that the first ones are a random sample wherever a
    run ends. Questions that the same lines have answered on the same graph are not asked again.
    """
    models, corpus = RankedDocumentModels(reranker), open_corpus(corpus_name)
    one = build_for(corpus, "links")
    graph = run_build(corpus, one, models)
    questions = [one for one in corpus.questions(corpus_name) if not unseen or question_half(one)]
    drawn = [
        questions[place]
        for place in np.random.default_rng(2026)
        .permutation(len(questions))[: most or len(questions)]
        .tolist()
    ]
    context = Context(graph, Environment(models))
    asked_of = (
        f"{graph.n_nodes:,} documents, {graph.n_edges:,} links ({one.id}), {models.title(reranker)}"
    )
    known = SavedAnswers(
        home_folder() / "ranked-documents" / f"{corpus_name}-{models.resolve(reranker).name}.jsonl",
        f"{asked_of}; {BUDGETS}; {METRICS}",
    )
    absent = {
        name: why
        for name, (line, _) in LINES.items()
        if (why := missing_models(parse_line(line.format(n=BUDGETS[-1])), models))
    }
    rows: dict[tuple[str, int], list[dict[str, Any]]] = {}
    start = time.monotonic()
    for number, question in enumerate(drawn, 1):
        for name in LINES:
            if name in absent or name in BY_CHAT and number > few:
                continue
            line = LINES[name][0]
            if (question.id, line) not in known.rows:
                known.add(question.id, line, measure_method(question, name, context, corpus_name))
            for row in known.rows[question.id, line]:
                rows.setdefault((name, row["budget"]), []).append(row)
        print(
            f"\r{number} of {len(drawn)} questions, {time.monotonic() - start:.0f} s",
            end="",
            file=sys.stderr,
            flush=True,
        )
    print(file=sys.stderr)
    values = {key: np.array([row["figures"] for row in found]) for key, found in rows.items()}
    took, again = (
        {key: [row["seconds"] for row in found] for key, found in rows.items()},
        dict[tuple[str, int], list[float]](),
    )
    for number, question in enumerate(drawn[:timed], 1):
        for name in (name for name in LINES if name not in absent and name not in BY_CHAT):
            for row in measure_method(question, name, context, corpus_name):
                again.setdefault((name, row["budget"]), []).append(row["seconds"])
        print(
            f"\r{number} of {timed} questions timed",
            end="\n" if number == timed else "",
            file=sys.stderr,
            flush=True,
        )
    milliseconds = {
        key: 1000 * statistics.median(seconds) for key, seconds in (took | again).items()
    }
    for name, why in absent.items():
        print(f"{name} is not measured. {' '.join(why)}", file=sys.stderr)
    about = f"{len(drawn)} questions, {asked_of}"
    return RankingFigures(values, milliseconds, about, tuple(absent))


def measure_method(
    question: Question, name: str, context: Context, corpus_name: str
) -> list[dict[str, Any]]:
    """A row per budget of a method: metrics on this question, and seconds without models."""
    (line, grows), rows = LINES[name], []
    for budget in BUDGETS if grows else BUDGETS[-1:]:
        state, beside = run_line(line.format(n=budget), question, context)
        outcome = observe(context.graph, state, source=CorpusSource(corpus_name))
        found = [metric(key)(outcome) or 0.0 for key in METRICS]
        rows.append({"budget": budget, "figures": found, "seconds": round(beside, 6)})
    return rows


def tables(of: RankingFigures) -> str:
    """The metrics as Markdown: a row per method, its budgets in turn, the last one's interval."""
    budgets = ", ".join(map(str, BUDGETS))
    lines = [
        f"{of.about}. Budgets of {budgets}; of searches {BUDGETS[-1]} alone.",
        "",
        "| method | R@10 | nDCG@10 | TR@10 | ms |",
        "|---|---|---|---|---:|",
    ]
    ours = of.values[OURS, BUDGETS[-1]]
    for name in dict.fromkeys(name for name, _ in of.values):
        runs = [rows for (one, _), rows in of.values.items() if one == name]
        cells = []
        for column in range(len(METRICS)):
            means = [_short(rows[:, column].mean()) for rows in runs]
            _, low, high = estimates(runs[-1])[column].numbers()
            cells.append(f"{' '.join(means)} [{_short(low)}, {_short(high)}]")
        cells.append(f"{of.milliseconds[name, BUDGETS[-1]]:.1f}")
        lines.append(f"| {_method_label(name, runs[-1], ours)} | {' | '.join(cells)} |")
    lines += ["", f"{OURS} less the other, at budget {BUDGETS[-1]}, by question, with p:", ""]
    lines += ["| other | R@10 | nDCG@10 | TR@10 |", "|---|---|---|---|"]
    for (name, budget), rows in of.values.items():
        if name == OURS or name.endswith(ADAPTED_SUFFIX) or budget != BUDGETS[-1]:
            continue
        cells = []
        for place, key in enumerate(METRICS):
            test = paired_test(key, OURS, name, ours[: len(rows), place], rows[:, place])
            assert test is not None
            low, high = _short(test.low, "+"), _short(test.high, "+")
            p = _short(test.p) if test.p >= 0.001 else "<.001"
            cells.append(f"{_short(test.difference, '+')} [{low}, {high}], {p}")
        lines.append(f"| {_method_label(name, rows, ours)} | {' | '.join(cells)} |")
    return "\n".join([*lines, *(f"\nNot measured: {name}." for name in of.missing)])


def _short(value: float, sign: str = "") -> str:
    """A number of three decimals, without the zero before them.

    >>> _short(0.4041), _short(-0.002, "+"), _short(1.0)
    ('.404', '-.002', '1.000')
    """
    return f"{value:{sign}.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign}.3f}"


def _method_label(name: str, rows: np.ndarray, ours: np.ndarray) -> str:
    """A method's name, with its number of questions where it is smaller."""
    return name if len(rows) == len(ours) else f"{name} ({len(rows)} questions)"


def write_between_marks(file: Path, mark: str, text: str) -> None:
    """Write a text between the marks of a file."""
    whole, first, last = file.read_text("utf-8"), f"<!-- {mark} -->", f"<!-- /{mark} -->"
    start, end = whole.index(first) + len(first), whole.index(last)
    file.write_text(f"{whole[:start]}\n{text}\n{whole[end:]}", "utf-8")


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables, or write them into a file."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.ranked_documents", description=__doc__
    )
    parser.add_argument("corpus", choices=("cacm", "scifact"))
    parser.add_argument(
        "--questions", type=int, default=0, help="the first so many of a draw (default: all)"
    )
    parser.add_argument("--to", type=Path, default=None, metavar="FILE")
    parser.add_argument(
        "--few",
        type=int,
        default=MODEL_QUESTIONS,
        help="questions for methods that ask a language model (%(default)s)",
    )
    parser.add_argument(
        "--timed",
        type=int,
        default=0,
        help="questions asked once more for the milliseconds (default: none)",
    )
    parser.add_argument(
        "--reranker",
        default="late-interaction",
        metavar="NAME",
        help="what re-ranks, by name or role (%(default)s)",
    )
    parser.add_argument(
        "--unseen",
        action="store_true",
        help="only questions from which no re-ranker is trained here",
    )
    options = parser.parse_args(given)
    text = tables(
        figures(
            options.corpus,
            options.questions,
            options.reranker,
            options.unseen,
            options.few,
            options.timed,
        )
    )
    if options.to:
        write_between_marks(options.to, f"{options.corpus} {options.reranker}", text)
    print(text)


if __name__ == "__main__":
    main()
