"""PageRank methods held against each other on a graph: the form, the work as it goes, and what came out, kept beside the graph."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.datasets import dataset_of
from core.errors import HopscopeError
from core.evaluation.pagerank.methods import (
    RANDOM,
    MethodComparison,
    MethodConfig,
    compare,
    saved_comparisons,
)
from core.evaluation.pagerank.plot import PUBLISHED, SOURCE, method_figure
from core.evaluation.pagerank.trials import expected, no_room, unfit
from core.indexes.place import index_folder
from core.indexes.table import KINDS
from core.io.durations import ago, span
from core.operators.base import DIRECTIONS
from core.operators.extract import PersonalizedPageRank
from core.parameters import parameters
from core.runtime.jobs import CANCELLED, Job
from pages.parts.shared.session import engine, graph_name
from pages.parts.shared.text import plain, size
from pages.parts.shared.wording import tr
from pages.parts.shared.working import working

TITLES = {
    "exact": tr("Exact"),
    "auto": tr("Automatic"),
    "push": tr("Automatic"),  # its name in comparisons saved before
    "fora": "FORA",
    "topppr": "TopPPR",
    "rbs": "RBS",
    "partition": tr("Inside Leiden clusters"),
}
LONG = 2.0  # seconds of a question from which on they are told beforehand
SLOW = ("fora", "topppr")
SLOW_HELP = tr(
    "FORA and TopPPR keep the guarantees of their papers, which may cost minutes a question; they are not chosen at first."
)
WAYS = {
    "graph": tr("as the graph says"),
    "out": tr("along the triples"),
    "in": tr("against the triples"),
    "both": tr("both ways"),
}
INTRO = tr(
    "Personalised PageRank cuts the part of the graph around a question's entities that everything else works on. The exact answer "
    "takes long on a large graph; the other methods are quicker and find most of it. Measured here, on the chosen graph."
)


def pageranks(graph: Any) -> None:
    """The form, the work as it goes, and the last comparison."""
    st.write(INTRO)
    config = _form(graph)
    key = f"pageranks-{graph.digest}"
    jobs = engine().preparing
    if config is not None:
        jobs.start(
            key,
            lambda: Job(key, lambda job: compare(graph, config, job)),
            again=True,
        )
    job = jobs.get(key)
    if job is not None:
        _working(job)
    try:
        known = saved_comparisons(graph)
    except HopscopeError as error:
        st.error(plain(str(error)))
        known = []
    if known:
        st.subheader(tr("Measured on this graph"), anchor=False)
        _shown(_chosen(known))
    _published()


def _form(graph: Any) -> MethodConfig | None:
    """What to compare, once it is sent."""
    by = {one.name: one for one in parameters(PersonalizedPageRank)}
    methods, known = by["method"].choices, dataset_of(graph_name())
    sets = (
        {name: one.title for name, one in known.sets.items() if one.graphs == "union"}
        if known
        else {}
    )
    with st.container(border=True, key="pageranks-box"):
        first = [name for name in methods if name not in SLOW and not unfit(graph, name)]
        chosen = st.multiselect(
            tr("Methods"),
            methods,
            first,
            key="pr_methods",
            persist_state="session",
            format_func=lambda name: TITLES.get(name, name),
            help=SLOW_HELP,
        )
        for line in _warnings(graph, methods):
            st.caption(plain(line))
        with st.container(horizontal=True):
            label = lambda name: (
                tr("questions of {name}", name=sets[name])
                if name
                else tr("entities drawn at random")
            )
            source = st.selectbox(
                tr("Start from"),
                [*sets, RANDOM],
                format_func=label,
                width=300,
                key="pr_source",
                persist_state="session",
            )
            count = st.number_input(
                tr("How many"),
                1,
                1000,
                20,
                width=120,
                key="pr_count",
                persist_state="session",
                help=tr("The same seed draws the same ones."),
            )
            seed = st.number_input(
                tr("Seed"), 0, 2**31 - 1, 0, width=120, key="pr_seed", persist_state="session"
            )
        with st.container(horizontal=True):
            keep = st.number_input(
                tr(by["keep"].label),
                1,
                1_000_000,
                by["keep"].default,
                width=150,
                key="pr_keep",
                persist_state="session",
                help=tr(by["keep"].help),
            )
            damping = st.number_input(
                tr(by["damping"].label),
                0.01,
                0.999,
                by["damping"].default,
                width=120,
                key="pr_damping",
                persist_state="session",
                help=tr(by["damping"].help),
            )
            way = st.selectbox(
                tr("Direction"),
                DIRECTIONS,
                format_func=WAYS.__getitem__,
                width=190,
                key="pr_direction",
                persist_state="session",
                help=by["direction"].help,
            )
            recall = st.number_input(
                tr("Recall aimed at"),
                0.5,
                1.0,
                0.97,
                width=150,
                key="pr_recall",
                persist_state="session",
                help=tr("By methods that can be asked for it."),
            )
        if not st.button(
            tr("Compare"), key="pageranks-go", type="primary", icon=":material/play_arrow:"
        ):
            return None
    return MethodConfig(
        tuple(chosen), source, int(count), int(keep), float(damping), way, float(recall), int(seed)
    )


def _warnings(graph: Any, methods: Sequence[str]) -> list[str]:
    """Which methods cannot be used on the graph, and how long the slow ones take."""
    long = {
        name: seconds
        for name in methods
        if not unfit(graph, name) and (seconds := expected(graph, name)) >= LONG
    }
    warnings = [no_room(graph), *(unfit(graph, name) for name in methods)]
    if long:
        each = ", ".join(
            f"{TITLES.get(name, name)} {span(seconds)}" for name, seconds in long.items()
        )
        warnings.append(
            tr(
                "On this graph a question takes up to about: {each}. All methods are held against the exact answer, which is worked out "
                "last.",
                each=each,
            )
        )
    clusters = KINDS["clusters"]
    environment = engine().environment
    there = (index_folder(graph) / clusters.usual(graph, environment)).exists()
    if "partition" in methods and not there and not clusters.lacks(graph, environment):
        warnings.append(
            tr(
                "{partition}: the clusters are found first, once; that takes {takes}.",
                partition=TITLES["partition"],
                takes=clusters.takes(graph, environment),
            )
        )
    return [line for line in warnings if line]


def _working(job: Job) -> None:
    """How far the comparison is, and how it ended."""
    working(
        job,
        "pageranks",
        tr("The last comparison was cancelled; nothing of it was kept.")
        if job.status == CANCELLED
        else "",
    )


def _chosen(known: list[MethodComparison]) -> MethodComparison:
    """The comparison to show, the newest where nobody chose."""
    label = lambda i: f"{_label(known[i])}  ·  {ago(time.time() - known[i].when)}"
    if len(known) == 1:
        st.caption(plain(label(0)))
        return known[0]
    return known[
        st.selectbox(
            tr("Comparison"), range(len(known)), format_func=label, label_visibility="collapsed"
        )
    ]


def _label(one: MethodComparison) -> str:
    plan, asked = one.config, one.rows[0].questions
    source = (
        tr("random entities")
        if plan.source == RANDOM
        else tr("questions of {source}", source=plan.source)
    )
    way = (
        ""
        if plan.direction == "graph"
        else tr(", edges followed {direction}", direction=WAYS[plan.direction])
    )
    return tr(
        "{asked:,} {source}, seed {seed}, the best {keep:,}, damping {damping:g}{way}, recall aimed at {recall:g}",
        asked=asked,
        source=source,
        seed=plan.seed,
        keep=plan.keep,
        damping=plan.damping,
        way=way,
        recall=plan.recall,
    )


def _shown(one: MethodComparison) -> None:
    known = any(row.answer_recall is not None for row in one.rows)
    prepared, unsettled = (
        any(row.prepared_s for row in one.rows),
        any(row.unsettled for row in one.rows),
    )
    counted = any(row.edges is not None for row in one.rows)
    rows = [
        {
            tr("Method"): TITLES.get(row.method, row.method)
            + (tr(", by {ran}", ran=row.ran) if row.ran else ""),
            tr("Median"): _time(row.median_ms / 1e3),
            tr("95 % within"): _time(row.p95_ms / 1e3),
            tr("Recall of the exact best"): row.recall,
            tr("Least"): row.least_recall,
            **({tr("Recall of the answers"): row.answer_recall} if known else {}),
            tr("Memory"): _room(row.memory),
            tr("Pieces"): row.components,
            **(
                {tr("Edges walked"): "–" if row.edges is None else f"{row.edges:,.0f}"}
                if counted
                else {}
            ),
            **(
                {tr("Preparation"): _time(row.prepared_s) if row.prepared_s else "none"}
                if prepared
                else {}
            ),
            **({tr("Gave up"): row.unsettled} if unsettled else {}),
        }
        for row in one.rows
    ]
    three = lambda help_text: st.column_config.NumberColumn(format="%.3f", help=help_text)
    columns = {
        tr("Recall of the exact best"): three(
            tr(
                "The share of the best entities by exact PageRank that the method finds; ties count as found."
            )
        ),
        tr("Recall of the answers"): three(
            tr("The share of the known answers among the entities it keeps.")
        ),
        tr("Least"): three(tr("The least such share among the questions.")),
        tr("Edges walked"): st.column_config.TextColumn(
            help=tr("The median, where the method counts them.")
        ),
        tr("Gave up"): st.column_config.NumberColumn(
            help=tr(
                "Questions on which the work cap was met before the recall asked for was reached."
            )
        ),
        tr("Memory"): st.column_config.TextColumn(
            help=tr("The most that one question took beside the graph itself.")
        ),
        tr("Pieces"): st.column_config.NumberColumn(
            format="%.2f",
            help=tr("Weakly connected components of the subgraph on the entities kept, mean."),
        ),
    }
    st.dataframe(rows, hide_index=True, column_config=columns)
    drawn = [False, True] if known else [False]
    with st.container(horizontal=True):
        for answers in drawn:
            with st.container(width=465):
                st.plotly_chart(
                    method_figure(one.rows, TITLES, answers), key=f"pageranks-{answers}"
                )
    if known:
        st.caption(tr("Hollow circles are the published figures, on Freebase; see below."))


def _published() -> None:
    """The published figures, marked as not measured here."""
    st.subheader(tr("Published, on Freebase"), anchor=False)
    st.caption(
        plain(
            tr(
                "{source}. Other graph, other computer, other questions: for orientation, not measured here.",
                source=SOURCE,
            )
        )
    )
    rows = [
        {
            tr("Method"): one.method,
            tr("Seconds a question"): one.seconds,
            tr("Recall of the answers"): one.recall,
            "F1": "–" if one.f1 is None else f"{one.f1:.4f}",
            tr("Pieces"): "–" if one.pieces is None else f"{one.pieces:g}",
            tr("Preparation"): "–"
            if one.before is None
            else "none"
            if not one.before
            else span(one.before),
        }
        for one in PUBLISHED
    ]
    two = st.column_config.NumberColumn(format="%.2f")
    st.dataframe(
        rows,
        hide_index=True,
        column_config={tr("Seconds a question"): two, tr("Recall of the answers"): two},
    )


def _room(memory: int | None) -> str:
    return "–" if memory is None else size(memory) if memory >= 1e6 else tr("under 1 MB")


def _time(seconds: float) -> str:
    if seconds >= 90:
        return span(seconds)
    return (
        f"{seconds:.2f} s"
        if seconds >= 1
        else tr("{milliseconds:.3g} ms", milliseconds=seconds * 1e3)
    )
