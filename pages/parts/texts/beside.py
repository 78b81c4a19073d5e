"""Comparison of two graphs of the same documents.

It shows the entities that only one graph has, names that may mean the same, and the questions on
which the difference matters.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from core.builds import Build, own_builds, status
from core.builds.shipped import builds_of
from core.corpus import Corpus
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.starting import evaluate
from core.graph.algorithms.layout import Place, positions
from core.graph.difference import GraphDifference, Missing, Union, graph_difference, union
from core.graph.store import Graph
from core.instances.catalogue import Instance, named
from core.operators.base import Line
from core.operators.texts.built import BuiltGraph
from core.sources import CorpusSource
from pages.parts.methods.groups import is_heading, options
from pages.parts.question.question_sets import usual_sets
from pages.parts.shared.actions import button, result_of, shown_errors
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, instances, store
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.chosen import awaited
from pages.parts.texts.growing import label, straight_lines
from pages.parts.texts.walking import of_chunks

LISTED, ALIKE = 200, 100  # most entities, and most pairs of names, that are listed
DRAWN, NAMED = 70, 24  # most entities in a picture, most names in it
# Width of a letter, height of a line and width of a margin, as shares of the picture.
LETTER, LINE, SIDE = (0.021, 0.045, 0.25)
SHARED, ALONE, LIGHT = "#2f6f9f", "#d9822b", "#9aa7b4"


def beside_another(corpus: Corpus, one: Build, graph: Graph) -> None:
    """Draw the comparison with another graph of these documents.

    The other graph is chosen first.
    """
    known = (builds_of(corpus) | own_builds(corpus)).values()
    entities = (other for other in known if other.graph != "chunks" and other.id != one.id)
    others = {other.id: other for other in entities if status(corpus, other).serves}
    if not others:
        st.info(
            tr(
                "There is no other graph of these texts yet. Build one above, and it can be "
                "looked at beside this one."
            )
        )
        return
    chosen = Session.texts_other[corpus.name]
    if chosen.value not in others:
        chosen.value = next(
            (id for id, other in others.items() if other.extractor != one.extractor),
            next(iter(others)),
        )
    other = others[
        st.selectbox(
            tr("Beside"),
            list(others),
            key=chosen.name,
            persist_state="session",
            format_func=lambda id: plain(others[id].title),
            width=560,
        )
    ]
    second = result_of(lambda: engine().environment.built(corpus, other.id))
    if second is None:
        return
    if of_chunks(graph) or of_chunks(second):
        st.info(
            tr(
                "The nodes of a passage graph or a tree are chunks and summaries, so there are no "
                "entities to hold against each other."
            )
        )
    else:
        found = _difference(graph, second)
        if found is not None:
            _figures(found, one, other)
            _picture(graph, second, one, other)
            _lists(found, graph, second, one, other)
    _questions(corpus, one, other)


def _difference(first: Graph, second: Graph) -> GraphDifference | None:
    """Return the differences of the graphs, for which the page waits.

    If that fails, the error is shown and None is returned.
    """
    key, work = (
        f"beside-{first.digest}-{second.digest}",
        lambda job: graph_difference(first, second),
    )
    return awaited(key, work, tr("Comparing the graphs"), again=False)


def _figures(found: GraphDifference, one: Build, other: Build) -> None:
    columns = st.columns(3, gap="medium")
    for column, title, nodes, links in zip(
        columns,
        (
            tr("In both"),
            tr("Only in “{title}”", title=one.title),
            tr("Only in “{other}”", other=other.title),
        ),
        (found.nodes, len(found.first.nodes), len(found.second.nodes)),
        (found.links, found.first.links, found.second.links),
    ):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{plain(title)}**")
            st.write(f"{many(nodes, 'entity', 'entities')}, {many(links, 'linked pair')}")
            missing = {columns[1]: found.first, columns[2]: found.second}.get(column)
            if missing is not None and missing.links:
                caption(
                    "{between:,} of these pairs join entities that both have.",
                    between=missing.between,
                )


def _picture(first: Graph, second: Graph, one: Build, other: Build) -> None:
    """Draw both graphs side by side on one layout.

    Shared entities have the same position.
    """
    both = first.derived.once("beside", second.digest, lambda: union(first, second, DRAWN))
    if not both.names[0]:
        return
    places = positions(range(len(both.names[0])), sorted(both.pairs[0] | both.pairs[1]))
    for column, side, build in zip(st.columns(2, gap="medium"), (0, 1), (one, other)):
        with column:
            st.markdown(f"**{plain(build.title)}**")
            figure = one_layout(both, side, places)
            st.plotly_chart(figure, key=f"texts-beside-{side}", config={"displayModeBar": False})
    caption(
        "The {shared:,} entities with the most relations, each at one place in both pictures. "
        "Blue: in both graphs. Orange: only in this one. A ring: only in the other. Blue lines "
        "join a pair in both graphs.",
        shared=len(both.names[0]),
    )


def one_layout(both: Union, side: int, places: dict[int, Place]) -> go.Figure:
    """Return the figure of one of two graphs on their common layout.

    `side` is 0 or 1. It shows the shared parts, its own parts, and as rings the entities that only
    the other graph has.
    """
    own, others = both.names[side], both.names[1 - side]
    alone = sorted(both.pairs[side] - both.pairs[1 - side])
    shared = sorted(both.pairs[0] & both.pairs[1])
    here = [at for at, name in enumerate(own) if name]
    colors = [SHARED if others[at] else ALONE for at in here]
    absent = [at for at, name in enumerate(own) if not name]
    ring = {"size": 8, "color": "rgba(0,0,0,0)", "line": {"color": LIGHT, "width": 1}}
    names = [label(own[at]) for at in here]
    figure = go.Figure(
        [
            straight_lines(alone, places, {"color": LIGHT, "width": 0.8}),
            straight_lines(shared, places, {"color": SHARED, "width": 1.8}),
            _points(absent, places, [""] * len(absent), ring),
            _points(here, places, names, {"size": 9, "color": colors}),
        ]
    )
    hidden = {"visible": False, "range": [-0.06, 1.06], "fixedrange": True}
    margin = {"l": 4, "r": 4, "t": 4, "b": 4}
    figure.update_layout(height=420, margin=margin, showlegend=False, xaxis=hidden, yaxis=hidden)
    return figure


def _points(
    nodes: list[int], places: dict[int, Place], names: list[str], marker: dict
) -> go.Scatter:
    """Return points with those names for which there is room; earlier points come first."""
    boxes: list[tuple[float, float, float]] = []
    shown = [
        name if name and _has_room(places[at], name, boxes) else ""
        for at, name in zip(nodes, names)
    ]
    return go.Scatter(
        x=[places[at][0] for at in nodes],
        y=[places[at][1] for at in nodes],
        mode="markers+text",
        text=shown,
        hovertext=names,
        hoverinfo="text" if any(names) else "skip",
        textposition=[f"top {_way(places[at][0])}" for at in nodes],
        textfont={"size": 11},
        marker=marker,
    )


def _way(x: float) -> str:
    """Return the side of its point on which a name is written.

    On that side, the name stays in the picture.
    """
    return "right" if x < SIDE else "left" if x > 1 - SIDE else "center"


def _has_room(place: Place, name: str, boxes: list[tuple[float, float, float]]) -> bool:
    """Return whether a name overlaps no other name.

    `boxes` are those of the other names. A box is the middle, the height and half of the width. The
    name's box is added if there is room.
    """
    x, y, half = *place, len(name) * LETTER / 2
    x += {"right": half, "left": -half, "center": 0.0}[_way(x)]
    free = len(boxes) < NAMED and all(
        abs(y - b) > LINE or abs(x - a) > half + other for a, b, other in boxes
    )
    if free:
        boxes.append((x, y, half))
    return free


def _lists(found: GraphDifference, first: Graph, second: Graph, one: Build, other: Build) -> None:
    if found.alike:
        st.markdown(
            tr("**Perhaps the same, under two names**  ·  {alike:,}", alike=len(found.alike))
        )
        pairs = found.alike[:ALIKE]
        rows = {
            plain(one.title): first.names([a for a, _, _ in pairs]),
            plain(other.title) + " ": second.names([b for _, b, _ in pairs]),
            tr("Alike"): [score for *_, score in pairs],
        }
        st.dataframe(
            rows,
            hide_index=True,
            height=min(280, 38 + 35 * len(pairs)),
            column_config={tr("Alike"): _alike()},
        )
    if not (
        len(found.first.nodes) or len(found.second.nodes) or found.first.links or found.second.links
    ):
        st.info(
            tr(
                "Both have the same entities and the same links between them. They may differ in "
                "descriptions, keywords and communities."
            )
        )
        return
    left, right = st.columns(2, gap="large")
    with left:
        _alone(first, found.first, one)
    with right:
        _alone(second, found.second, other)
    caption("Compared by name, in which case, accents and punctuation at the ends do not count.")


def _alike() -> ColumnConfig:
    return st.column_config.NumberColumn(
        width=80, help=tr("How much of the letters agree, of 100, whatever the order of the words")
    )


def _alone(graph: Graph, missing: Missing, build: Build) -> None:
    nodes = missing.nodes[:LISTED]
    st.markdown(
        tr(
            "**Only in “{build}”**  ·  {nodes:,}",
            build=plain(build.title),
            nodes=len(missing.nodes),
        )
    )
    if not len(nodes):
        caption("None.")
        return
    rows = {
        tr("Entity"): graph.names(nodes),
        tr("Relations"): np.asarray(graph.degrees(nodes)).tolist(),
    }
    st.dataframe(
        rows,
        hide_index=True,
        height=min(360, 38 + 35 * len(nodes)),
        column_config={tr("Relations"): {"width": 90}},
    )
    if len(missing.nodes) > LISTED:
        caption("The {listed} with the most relations.", listed=LISTED)


def _questions(corpus: Corpus, one: Build, other: Build) -> None:
    """Draw the form that evaluates one method on both graphs."""
    source = CorpusSource(corpus.name)
    known = {key: row for key, row in instances().items() if on_one_graph(row, one, other)}
    st.markdown(tr("**Which questions turn on the difference?**"))
    if not source.sets or not known:
        if not source.sets:
            caption("These texts have no questions yet.")
        else:
            caption("No method of the catalogue runs on either kind of graph.")
        return
    labels = {key: text for key, text in options(known).items() if not is_heading(key)}
    with st.container(border=True, horizontal=True, vertical_alignment="bottom"):
        method = st.selectbox(
            tr("Method on both graphs"),
            list(labels),
            format_func=labels.__getitem__,
            key="beside_method",
            width=320,
        )
        usual = list(source.sets).index(usual_sets(source.sets)[0])
        questions = st.selectbox(
            tr("Questions"),
            list(source.sets),
            usual,
            format_func=source.sets.__getitem__,
            key="beside_set",
            width=320,
        )
        size = st.number_input(tr("How many"), 1, 10_000, 40, key="beside_size", width=110)
        if button(tr("Ask them on both"), key="beside-go", type="primary", icon="play_arrow"):
            _begin([on_build(known[method], build) for build in (one, other)], questions, int(size))
    caption(
        "Evaluates the method on each graph and opens it on Evaluate, where “From one method to "
        "another” lists the questions won and lost."
    )


def on_one_graph(row: Instance, *builds: Build) -> bool:
    """Return whether a method starts at the graph of one of these builds.

    A build of the same kind counts.
    """
    first = row.line.operators[0]
    return isinstance(first, BuiltGraph) and first.build in {build.graph for build in builds} | {
        build.id for build in builds
    }


def on_build(row: Instance, build: Build) -> Instance:
    """Return the method on the graph of this build."""
    first, *others = row.line.operators
    return named(Line((replace(first, build=build.id), *others)), instances())


def _begin(rows: list[Instance], questions: str, size: int) -> None:
    with shown_errors():
        with st.spinner(tr("Opening what is asked and drawing the questions")):
            plan = make_plan(rows, questions, size, engine().graph, model=False)
            job = evaluate(engine(), store(), plan)
        st.switch_page("pages/evaluate.py", query_params={"run": str(job.number)})
