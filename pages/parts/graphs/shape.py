"""Counts of a graph, and the distribution of its edges.

The page Graphs shows them in the tab Shape.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from core.datasets import Dataset, datasets
from core.graph.algorithms.overview import OVERVIEW
from core.graph.columns import COLUMN_TYPES, Table
from core.graph.names.language import choose_language, graph_language
from pages.parts.graphs.walk_view import DARK_COLOURS, LIGHT_COLOURS
from pages.parts.shared.actions import button
from pages.parts.shared.language import language_choice
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import graph_name
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

MAX_RELATION_BARS = 20  # relations in the bar chart
DIRECTION_PHRASES = {
    "out": tr("forward"),
    "in": tr("backward"),
    "both": tr("both"),
}


@st.cache_data(max_entries=16, show_spinner=tr("Counting …"))
def graph_counts(digest: str, _graph: Any) -> dict[str, Any]:
    """Return the counts of a graph, cached by its digest.

    `entities` has the number of entities for each of the ascending `degrees`, and `relations` the
    number of triples by relation id. `loops` is None if self-loops are not counted, in a very large
    graph.
    """
    shape = _graph.shape()
    degrees, entities = shape.degrees.tolist(), shape.node_counts.tolist()
    return {
        "degrees": degrees,
        "entities": entities,
        "isolated": dict(zip(degrees, entities)).get(0, 0),
        "largest": degrees[-1],
        "relations": shape.relation_counts.tolist(),
        "busiest": list(shape.busiest),
        "loops": shape.n_loops,
    }


def may_count(graph: Any) -> bool:
    """Return whether the counts may be drawn.

    Counting reads the whole graph. For a very large one, a button is drawn that allows it.
    """
    if graph.n_edges <= OVERVIEW.max_counted_triples or session.counts_wanted_for == graph.digest:
        return True
    write(
        "Counting reads the whole graph: {n_edges:,} triples. That may take a minute.",
        n_edges=graph.n_edges,
    )
    button(tr("Count them"), partial(Session.counts_wanted_for.put, graph.digest), icon="bar_chart")
    return False


def draw_head(graph: Any) -> None:
    """Draw the main counts in a line, and the language of the graph."""
    with st.container(horizontal=True, gap="large", vertical_alignment="center", key="figures"):
        counts = (
            many(graph.n_nodes, "entity", "entities"),
            many(graph.n_edges, "triple"),
            many(graph.n_relations, "relation"),
        )
        st.caption(" · ".join(counts), width="content")
        if graph.live is None:
            language_choice(
                graph_language(graph),
                partial(choose_language, graph),
                graph.digest[:8],
                tr(
                    "Decides how question words are compared with relation names, and which "
                    "encoders are said to read them."
                ),
            )


def draw_details(graph: Any) -> None:
    """Draw further facts of the graph and its origin."""
    counts = graph_counts(graph.digest, graph)
    dataset = datasets().get(graph_name())
    loops = tr("not counted in a graph of this size")
    if counts["loops"] is not None:
        loops = f"{counts['loops']:,}"
    facts = {
        tr("Edge direction"): DIRECTION_PHRASES[graph.direction]
        + tr(", unless a step says otherwise"),
        tr("Most edges of one entity"): f"{counts['largest']:,}",
        tr("Isolated entities"): f"{counts['isolated']:,}",
        tr("Triples from an entity to itself"): loops,
        tr("Entity columns"): _column_counts(graph.columns.nodes),
        tr("Triple columns"): _column_counts(graph.columns.edges),
        tr("On disk"): _size_on_disk(graph),
        tr("From"): _origin(dataset),
        tr("Licence"): "" if dataset is None else dataset.licence,
    }
    for label, value in facts.items():
        if value:
            with st.container(horizontal=True, gap="small"):
                st.caption(label, width=230)
                st.text(str(value), width="stretch")
    st.space("small")


def draw_charts(graph: Any) -> None:
    """Draw the distribution of degrees, and the number of triples per relation."""
    import plotly.graph_objects as go  # here, because the import takes a noticeable time

    counts = graph_counts(graph.digest, graph)
    colour = (DARK_COLOURS if st.context.theme.type == "dark" else LIGHT_COLOURS)["near"]
    rows = zip(counts["degrees"], counts["entities"])
    # Degree 0 has no place on a logarithmic axis.
    entities_by_degree = {degree: number for degree, number in rows if degree}
    st.markdown(tr("**Edges at an entity**"))
    caption("Each dot: how many entities have that many edges. Log scales.")
    dots = go.Figure(
        go.Scatter(
            x=list(entities_by_degree),
            y=list(entities_by_degree.values()),
            mode="markers",
            marker={"size": 6, "opacity": 0.7, "color": colour},
            hovertemplate=tr("%{y:,} entities with %{x:,} edges") + "<extra></extra>",
        )
    )
    dots.update_layout(
        height=320,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis={"type": "log", "title": tr("edges"), "dtick": 1},
        yaxis={"type": "log", "title": tr("entities"), "dtick": 1},
    )
    st.plotly_chart(dots, theme="streamlit", key="degrees", config={"displayModeBar": False})
    n_triples = counts["relations"]
    order = sorted(range(graph.n_relations), key=lambda i: (-n_triples[i], i))[:MAX_RELATION_BARS]
    st.markdown(tr("**Triples of a relation**"))
    if graph.n_relations > MAX_RELATION_BARS:
        caption(
            "The {shown} most frequent of {n_relations:,}.",
            shown=MAX_RELATION_BARS,
            n_relations=graph.n_relations,
        )
    names = [_chart_label(graph.relation_names[i]) for i in order]
    bars = go.Figure(
        go.Bar(
            x=[n_triples[i] for i in order],
            y=list(range(len(order))),
            orientation="h",
            marker={"color": colour},
            hovertemplate=tr("%{x:,} triples") + "<extra></extra>",
        )
    )
    bars.update_layout(
        height=90 + 24 * len(order),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis={"title": tr("triples")},
        bargap=0.35,
        yaxis={
            "autorange": "reversed",
            "tickmode": "array",
            "tickvals": list(range(len(order))),
            "ticktext": names,
            "automargin": True,
        },
    )
    st.plotly_chart(bars, theme="streamlit", key="relations", config={"displayModeBar": False})


def _chart_label(name: str) -> str:
    """Return a short relation name for a chart, without tags that plotly would read."""
    name = " ".join(name.split())
    name = name if len(name) <= 40 else "…" + name[-39:]
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _column_counts(table: Table | None) -> str:
    """Return the columns of a table with their filled rows.

    Empty without a table.
    """
    if table is None:
        return ""
    counts = {
        name: sum(map(bool, table.texts(name))) if COLUMN_TYPES[name] == "string" else len(table)
        for name in table.names
    }
    return ", ".join(
        f"{name} ({count:,})" for name, count in counts.items() if COLUMN_TYPES[name] != "ids"
    )


def _origin(dataset: Dataset | None) -> str:
    """Return the source of a graph's triples in words; empty if unknown."""
    if dataset is None:
        return ""
    if dataset.triples:
        return tr("{name}, shipped with Hopscope", name=dataset.triples.name)
    return tr("a database") if dataset.is_live else tr("a file you added")


def _size_on_disk(graph: Any) -> str:
    if graph.folder is None:
        return tr("kept in memory only")
    size = sum(file.stat().st_size for file in Path(graph.folder).rglob("*") if file.is_file())
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(size, 1000) / 1e6:.1f} MB"
