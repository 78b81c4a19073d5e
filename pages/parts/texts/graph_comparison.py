"""Comparison of two graphs of the same documents.

It shows the entities that only one graph has, names that may mean the same, and the questions on
which the difference matters.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from core.builds import GraphBuild, build_status, own_builds
from core.builds.shipped_data import builds_of
from core.corpus import Corpus
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.graph.algorithms.layout import Position, node_positions
from core.graph.difference import (
    GraphDifference,
    GraphUnion,
    MissingParts,
    compare_graphs,
    unite_graphs,
)
from core.graph.store import Graph
from core.methods.catalogue import Method, method_of_line
from core.operators.base import Line
from core.operators.texts.built_graph import BuiltGraph
from core.sources import CorpusSource
from pages.parts.methods.options import method_options
from pages.parts.question.question_sets import default_set_selection
from pages.parts.shared.actions import button, result_of, shown_errors
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, methods, store
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.corpus_choice import await_result
from pages.parts.texts.graph_growth import chart_name, straight_lines
from pages.parts.texts.text_trail import has_passage_nodes

MAX_LISTED_ENTITIES = 200
MAX_ALIKE_PAIRS = 100  # pairs of similar names that are listed
MAX_PAIR_ENTITIES = 70  # most entities in a picture
MAX_PAIR_NAMES = 24  # most names in a picture
# Estimates for names that must not overlap, as shares of the picture's width or height.
LETTER_SHARE = 0.021  # width of a letter
LINE_SHARE = 0.045  # height of a line
MARGIN_SHARE = 0.25  # width of the margins, in which names stand beside their points
SHARED_COLOUR = "#2f6f9f"  # of what both graphs have
UNSHARED_COLOUR = "#d9822b"  # of what only one graph has
EDGE_COLOUR = "#9aa7b4"


def draw_graph_comparison(corpus: Corpus, build: GraphBuild, graph: Graph) -> None:
    """Draw the choice of another graph of these documents, and the comparison with it."""
    builds = (builds_of(corpus) | own_builds(corpus)).values()
    others = {
        other.id: other
        for other in builds
        if other.graph != "chunks"
        and other.id != build.id
        and build_status(corpus, other).can_be_opened
    }
    if not others:
        st.info(
            tr("These texts have no other graph yet. Build one above to compare it with this one.")
        )
        return
    choice = Session.texts_other[corpus.name]
    if choice.value not in others:
        # Graphs with another extractor are more interesting to compare.
        differing = [id for id, other in others.items() if other.extractor != build.extractor]
        choice.value = [*differing, *others][0]
    other_build = others[
        st.selectbox(
            tr("Compare with"),
            list(others),
            key=choice.name,
            persist_state="session",
            format_func=lambda id: plain(others[id].title),
            width=560,
        )
    ]
    other_graph = result_of(lambda: engine().environment.open_build(corpus, other_build.id))
    if other_graph is None:
        return
    if has_passage_nodes(graph) or has_passage_nodes(other_graph):
        st.info(
            tr(
                "Passage graphs and trees have chunks and summaries in place of entities, so "
                "entities cannot be compared."
            )
        )
    else:
        difference = _graph_difference(graph, other_graph)
        if difference is not None:
            _draw_counts(difference, build, other_build)
            _draw_pictures(graph, other_graph, build, other_build)
            _draw_lists(difference, graph, other_graph, build, other_build)
    _draw_evaluation_form(corpus, build, other_build)


def _graph_difference(first: Graph, second: Graph) -> GraphDifference | None:
    """Wait for the difference of the graphs and return it.

    If that fails, the error is drawn and None is returned.
    """
    key = f"beside-{first.digest}-{second.digest}"
    title = tr("Comparing the graphs")
    return await_result(key, lambda job: compare_graphs(first, second), title, rerun=False)


def _draw_counts(difference: GraphDifference, build: GraphBuild, other: GraphBuild) -> None:
    """Draw the counts of shared and unshared entities and links."""
    columns = st.columns(3, gap="medium")
    titles = (
        tr("In both"),
        tr("Only in “{title}”", title=build.title),
        tr("Only in “{other}”", other=other.title),
    )
    first, second = difference.first, difference.second
    n_nodes = (difference.n_common_nodes, len(first.nodes), len(second.nodes))
    for column, title, count, part in zip(columns, titles, n_nodes, (None, first, second)):
        links = difference.n_common_links if part is None else part.n_links
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{plain(title)}**")
            st.write(f"{many(count, 'entity', 'entities')}, {many(links, 'linked pair')}")
            if part is not None and part.n_links:
                caption(
                    "{between:,} of these pairs link entities that both graphs have.",
                    between=part.n_links_between_common,
                )


def _draw_pictures(first: Graph, second: Graph, build: GraphBuild, other: GraphBuild) -> None:
    """Draw both graphs side by side, with shared entities at the same position."""
    union_graph = first.derived.get_or_make(
        "beside", second.digest, lambda: unite_graphs(first, second, MAX_PAIR_ENTITIES)
    )
    if not union_graph.names[0]:
        return
    positions = node_positions(
        range(len(union_graph.names[0])), sorted(union_graph.pairs[0] | union_graph.pairs[1])
    )
    for column, side, side_build in zip(st.columns(2, gap="medium"), (0, 1), (build, other)):
        with column:
            st.markdown(f"**{plain(side_build.title)}**")
            figure = layout_figure(union_graph, side, positions)
            st.plotly_chart(figure, key=f"texts-beside-{side}", config={"displayModeBar": False})
    caption(
        "The {shared:,} entities with the most relations, at the same position in both pictures. "
        "Blue: in both graphs. Orange: only in this one. Ring: only in the other. Blue line: "
        "linked in both.",
        shared=len(union_graph.names[0]),
    )


def layout_figure(union: GraphUnion, side: int, positions: dict[int, Position]) -> go.Figure:
    """Return the figure of one of two graphs on their common layout.

    It shows the shared parts, the parts that only this graph has, and as rings the entities that
    only the other graph has.

    Parameters
    ----------
    side : 0 for the first graph, 1 for the second.
    positions : position of each entity, by its index in `union`.
    """
    # The name of an entity is empty in a graph that lacks it.
    own_names, other_names = union.names[side], union.names[1 - side]
    unshared = sorted(union.pairs[side] - union.pairs[1 - side])
    shared = sorted(union.pairs[0] & union.pairs[1])
    own_nodes = [i for i, name in enumerate(own_names) if name]
    colors = [SHARED_COLOUR if other_names[i] else UNSHARED_COLOUR for i in own_nodes]
    absent = [i for i, name in enumerate(own_names) if not name]
    ring = {"size": 8, "color": "rgba(0,0,0,0)", "line": {"color": EDGE_COLOUR, "width": 1}}
    names = [chart_name(own_names[i]) for i in own_nodes]
    figure = go.Figure(
        [
            straight_lines(unshared, positions, {"color": EDGE_COLOUR, "width": 0.8}),
            straight_lines(shared, positions, {"color": SHARED_COLOUR, "width": 1.8}),
            _points(absent, positions, [""] * len(absent), ring),
            _points(own_nodes, positions, names, {"size": 9, "color": colors}),
        ]
    )
    hidden = {"visible": False, "range": [-0.06, 1.06], "fixedrange": True}
    margin = {"l": 4, "r": 4, "t": 4, "b": 4}
    figure.update_layout(height=420, margin=margin, showlegend=False, xaxis=hidden, yaxis=hidden)
    return figure


def _points(
    nodes: list[int], positions: dict[int, Position], names: list[str], marker: dict
) -> go.Scatter:
    """Return points with names that do not overlap.

    A name is left out if it would overlap the name of an earlier point.
    """
    boxes: list[tuple[float, float, float]] = []
    shown_names = [
        name if name and _add_name_box(positions[node], name, boxes) else ""
        for node, name in zip(nodes, names)
    ]
    return go.Scatter(
        x=[positions[node][0] for node in nodes],
        y=[positions[node][1] for node in nodes],
        mode="markers+text",
        text=shown_names,
        hovertext=names,
        hoverinfo="text" if any(names) else "skip",
        textposition=[f"top {_name_side(positions[node][0])}" for node in nodes],
        textfont={"size": 11},
        marker=marker,
    )


def _name_side(x: float) -> str:
    """Return the side of a point on which its name fits."""
    if x < MARGIN_SHARE:
        return "right"
    return "left" if x > 1 - MARGIN_SHARE else "center"


def _add_name_box(position: Position, name: str, boxes: list[tuple[float, float, float]]) -> bool:
    """Add the box of a name unless it overlaps another.

    Return whether it was added. A box is the x and y of its middle, and half of its width. No more
    than `MAX_PAIR_NAMES` boxes are added.
    """
    x, y = position
    half_width = len(name) * LETTER_SHARE / 2
    x += {"right": half_width, "left": -half_width, "center": 0.0}[_name_side(x)]
    is_free = len(boxes) < MAX_PAIR_NAMES and all(
        abs(y - other_y) > LINE_SHARE or abs(x - other_x) > half_width + other_half
        for other_x, other_y, other_half in boxes
    )
    if is_free:
        boxes.append((x, y, half_width))
    return is_free


def _draw_lists(
    difference: GraphDifference, first: Graph, second: Graph, build: GraphBuild, other: GraphBuild
) -> None:
    """Draw pairs of similar names, and unshared entities."""
    if difference.similar_pairs:
        count = len(difference.similar_pairs)
        st.markdown(tr("**Possibly the same entity, two names**  ·  {alike:,}", alike=count))
        pairs = difference.similar_pairs[:MAX_ALIKE_PAIRS]
        rows = {
            plain(build.title): first.names([node for node, _, _ in pairs]),
            # The space keeps the columns apart if both titles are equal.
            plain(other.title) + " ": second.names([node for _, node, _ in pairs]),
            tr("Similarity"): [score for _, _, score in pairs],
        }
        similarity = st.column_config.NumberColumn(
            width=80, help=tr("Shared letters in percent, in any order of the words")
        )
        st.dataframe(
            rows,
            hide_index=True,
            height=min(280, 38 + 35 * len(pairs)),
            column_config={tr("Similarity"): similarity},
        )
    parts = (difference.first, difference.second)
    if not any(len(part.nodes) or part.n_links for part in parts):
        st.info(
            tr(
                "Both have the same entities and links. They may differ in descriptions, keywords "
                "and communities."
            )
        )
        return
    left, right = st.columns(2, gap="large")
    with left:
        _draw_unshared(first, difference.first, build)
    with right:
        _draw_unshared(second, difference.second, other)
    caption("Compared by name. Case, accents and punctuation at the ends do not count.")


def _draw_unshared(graph: Graph, missing: MissingParts, build: GraphBuild) -> None:
    """Draw the entities that the other graph lacks."""
    nodes = missing.nodes[:MAX_LISTED_ENTITIES]
    title = plain(build.title)
    st.markdown(tr("**Only in “{build}”**  ·  {nodes:,}", build=title, nodes=len(missing.nodes)))
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
    if len(missing.nodes) > MAX_LISTED_ENTITIES:
        caption("The {listed} with the most relations.", listed=MAX_LISTED_ENTITIES)


def _draw_evaluation_form(corpus: Corpus, build: GraphBuild, other: GraphBuild) -> None:
    """Draw the form that evaluates one method on both graphs."""
    source = CorpusSource(corpus.name)
    methods_by_id = {
        id: method for id, method in methods().items() if starts_at_build(method, build, other)
    }
    st.markdown(tr("**Which questions does the difference decide?**"))
    if not source.sets:
        caption("These texts have no questions yet.")
        return
    if not methods_by_id:
        caption("No method of the catalogue uses these kinds of graph.")
        return
    labels = method_options(methods_by_id)
    with st.container(border=True, horizontal=True, vertical_alignment="bottom"):
        method = st.selectbox(
            tr("Method on both graphs"),
            list(labels),
            format_func=labels.__getitem__,
            key="beside_method",
            filter_mode="contains",
            width=320,
        )
        default_index = list(source.sets).index(default_set_selection(source.sets)[0])
        questions = st.selectbox(
            tr("Questions"),
            list(source.sets),
            default_index,
            format_func=source.sets.__getitem__,
            key="beside_set",
            width=320,
        )
        size = st.number_input(tr("How many"), 1, 10_000, 40, key="beside_size", width=110)
        if button(tr("Ask them on both"), key="beside-go", type="primary", icon="play_arrow"):
            _start_evaluation(
                [method_on_build(methods_by_id[method], each) for each in (build, other)],
                questions,
                int(size),
            )
    caption(
        "Opens Evaluate with the method on both graphs. “From one method to another” lists the "
        "questions won and lost."
    )


def starts_at_build(method: Method, *builds: GraphBuild) -> bool:
    """Return whether a method starts at one of these builds.

    Its first operator then opens the build, or any of its kind.
    """
    first = method.line.operators[0]
    return isinstance(first, BuiltGraph) and any(
        first.build in (build.graph, build.id) for build in builds
    )


def method_on_build(method: Method, build: GraphBuild) -> Method:
    """Return the method with its first operator on this build."""
    first, *others = method.line.operators
    return method_of_line(Line((replace(first, build=build.id), *others)), methods())


def _start_evaluation(build_methods: list[Method], questions: str, size: int) -> None:
    """Evaluate methods on `size` questions, and open the evaluation."""
    with shown_errors():
        with st.spinner(
            tr("Opening the graph or documents and drawing the questions"), show_time=True
        ):
            plan = make_plan(build_methods, questions, size, engine().graph, model=False)
            job = evaluate(engine(), store(), plan)
        st.switch_page("pages/evaluate.py", query_params={"run": str(job.number)})
