"""Picture of an entity's neighbourhood as one self-contained page.

It is drawn by pyvis. The walk and the overview of the page Graphs show such pages in a sandboxed
frame. A click on a node is sent back to the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from core.graph.algorithms.layout import node_positions
from core.graph.algorithms.neighbourhood import induced_edges
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.wording import tr

LAYOUT_WIDTH, LAYOUT_HEIGHT = 1000, 480  # size of the layout area, in pixels
MAX_FILLED_ENTITIES = 36  # Neighbours of neighbours are added up to this number of entities.
NARROW_WIDTH = 640  # In a narrower frame, in pixels, the outer nodes are hidden.
MAX_LABELLED_PAIRS = 14  # most pairs of entities for which edges are labelled
MAX_PICTURE_NAME_CHARACTERS = 26  # most characters of a name in the picture
# Colours of a picture on a light and a dark page. The nodes are the centre (`here`), its neighbours
# (`near`) and the nodes two steps away (`far`). `paper` is the background.
LIGHT_COLOURS = {
    "text": "#1f2933",
    "paper": "#f6f7f9",
    "edge": "#b9c3cd",
    "here": "#d9822b",
    "near": "#2f6f9f",
    "far": "#b4bec8",
    "faint": "#66727e",
}
DARK_COLOURS = {
    "text": "#e6ebf0",
    "paper": "#12181f",
    "edge": "#56626e",
    "here": "#eb9a48",
    "near": "#69b0e4",
    "far": "#6d7985",
    "faint": "#a3afba",
}
_CDN_TAGS = re.compile(
    r"<link[^>]*https?://[^>]*>|<script[^>]*\bsrc=[^>]*https?://[^>]*>\s*</script>", re.S
)
# Script of the picture. It spreads the nodes over the actual size of the frame, and tells the page
# which node was clicked.
# A narrow frame leaves out the nodes two steps away, so that the other names stay readable.
_SCRIPT = f"""function fit(){{if(innerWidth<50)return;const \
few=innerWidth<{NARROW_WIDTH},w=Math.max(innerWidth,480),h=w*innerHeight/innerWidth;
const \
seen=nodes.get().filter(n=>!(few&&n.outer)),\
ends=k=>[Math.min(...seen.map(n=>n[k])),Math.max(...seen.map(n=>n[k]))];
nodes.update(nodes.get().filter(n=>n.outer).map(n=>({{id:n.id,hidden:few}})));
const [l,r]=few?ends('x'):[0,{LAYOUT_WIDTH}],[t,b]=few?ends('y'):[0,{LAYOUT_HEIGHT}];
seen.forEach(n=>network.moveNode(n.id,(n.x-l)*w/(r-l||1),(n.y-t)*h/(b-t||1)));
network.setSize('100%',innerHeight+'px');network.redraw();network.fit()}}
fit();requestAnimationFrame(fit);addEventListener('resize',()=>setTimeout(fit,60));
network.on('click',e=>{{if(e.nodes.length)parent.postMessage({{walk:e.nodes[0]}},'*')}});
network.on('hoverNode',()=>document.body.style.cursor='pointer');\
network.on('blurNode',()=>document.body.style.cursor='')"""
# The component around the picture: a frame that may run scripts and nothing else, and the message
# of a click.
_FRAME = """export default function({data, parentElement, setTriggerValue}) {
  let frame = parentElement.querySelector("iframe");
  if (!frame) {
    frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.style = "width:100%;border:0;display:block";
    parentElement.append(frame);
  }
  frame.title = data.title;
  frame.style.height = data.height + "px";
  if (frame.picture !== data.html) { frame.picture = data.html; frame.srcdoc = data.html; }
  const hear = (event) => {
    const node = event.source === frame.contentWindow ? event.data?.walk : undefined;
    if (Number.isInteger(node)) setTriggerValue("walk", node);
  };
  addEventListener("message", hear);
  return () => removeEventListener("message", hear);
}"""
_HREF_PATTERN = re.compile("href", re.I)


@cache
def _component():
    return st.components.v2.component("hopscope_walk", js=_FRAME)


def draw_picture(
    html: str, on_click: Callable[[int], None], title: str = tr("Picture of the neighbourhood")
) -> None:
    """Draw the picture in a sandboxed frame.

    Parameters
    ----------
    html : the page of the picture, as `picture_html` returns it.
    on_click : called with the id of an entity that was clicked.
    title : title of the frame.
    """

    def clicked() -> None:
        node = session.walk_picture.walk
        if node is not None:
            on_click(int(node))

    _component()(
        key=Session.walk_picture.name,
        data={"html": html, "height": LAYOUT_HEIGHT, "title": title},
        on_walk_change=clicked,
    )


@dataclass(frozen=True)
class Neighbourhood:
    """Entities and edges of a picture.

    Attributes
    ----------
    centre : the entity in the middle.
    near, far : its neighbours, and entities two steps away.
    edges : ids of all edges between these entities.
    """

    centre: int
    near: tuple[int, ...]
    far: tuple[int, ...]
    edges: tuple[int, ...]


def neighbourhood(graph: Any, centre: int, near: Sequence[int], max_entities: int) -> Neighbourhood:
    """Return an entity with the first of the given neighbours.

    There are at most `max_entities` in all. If there are few neighbours, some of their neighbours
    are added, up to the same number for each.
    """
    near = list(dict.fromkeys(node for node in near if node != centre))[: max_entities - 1]
    drawn = {centre, *near}
    far: list[int] = []
    if near and len(near) < MAX_FILLED_ENTITIES // 2:
        n_free = min(max_entities, MAX_FILLED_ENTITIES) - 1 - len(near)
        n_each = max(1, n_free // len(near))
        for node in near:
            # Of so many distinct neighbours, n_each are new even if all drawn ones are among them.
            candidates = graph.steps(node)[0][: n_each + len(drawn)].tolist()
            new_nodes = [int(other) for other in dict.fromkeys(candidates) if other not in drawn]
            drawn.update(new_nodes[:n_each])
            far += new_nodes[:n_each]
    edges = induced_edges(graph, np.array(sorted(drawn), np.int64))
    return Neighbourhood(centre, tuple(near), tuple(far), tuple(map(int, edges)))


def network(colours: Mapping[str, str]) -> Any:
    """Return an empty pyvis network.

    Its template is compiled once for all pictures; pyvis would compile it for each one.
    """
    from pyvis.network import Network

    net = Network(
        height=f"{LAYOUT_HEIGHT}px",
        width="100%",
        directed=True,
        bgcolor=colours["paper"],
        cdn_resources="in_line",
    )
    net.templateEnv = _templates(net.template_dir)
    return net


@cache
def _templates(folder: str) -> Any:
    from jinja2 import Environment, FileSystemLoader

    # Without autoescape, as in pyvis. The names are escaped before.
    return Environment(loader=FileSystemLoader(folder))


def picture_html(graph: Any, part: Neighbourhood, dark: bool) -> str:
    """Return the picture as an HTML page, which loads nothing and has all names escaped.

    Edges have names if there are few; otherwise these are shown when the mouse points at an edge.
    """
    colours = DARK_COLOURS if dark else LIGHT_COLOURS
    net = network(colours)
    pairs = _relations_by_pair(graph, part)
    positions = node_positions([part.centre, *part.near, *part.far], list(pairs))
    for node in (part.centre, *part.near, *part.far):
        _add_node(net, graph, part, node, positions[node], colours)
    for (source, target), relations in pairs.items():
        text = ", ".join(relations)
        options = {"title": cut_name(text, 200), "color": colours["edge"], "width": 1.2}
        if len(pairs) <= MAX_LABELLED_PAIRS:
            options["label"] = cut_name(text, MAX_PICTURE_NAME_CHARACTERS)
        net.add_edge(source, target, **options)
    net.set_options(json.dumps(vis_options(colours)))
    return self_contained_page(net.generate_html(notebook=False), colours)


def _relations_by_pair(graph: Any, part: Neighbourhood) -> dict[tuple[int, int], list[str]]:
    """Return the relations by head and tail of the drawn edges.

    Self-loops are left out, since the table of steps has them. So are edges between outer entities
    (two steps away).
    """
    names_by_pair: dict[tuple[int, int], list[str]] = {}
    outer = set(part.far)
    heads, relations, tails = (
        ids.tolist() for ids in graph.triples(np.array(part.edges, np.int64))
    )
    for pair, relation in zip(zip(heads, tails), relations):
        if pair[0] == pair[1] or (pair[0] in outer and pair[1] in outer):
            continue
        names = names_by_pair.setdefault(pair, [])
        if graph.relation_names[relation] not in names:
            names.append(graph.relation_names[relation])
    return names_by_pair


def _add_node(
    net: Any,
    graph: Any,
    part: Neighbourhood,
    node: int,
    position: tuple[float, float],
    colours: dict[str, str],
) -> None:
    """Add a node to the network in the style of its role.

    `position` is x and y, from 0 to 1.
    """
    name = graph.node_name(node)
    role = "here" if node == part.centre else "far"
    if node in part.near:
        role = "near"
    size = {"here": 20, "near": 11, "far": 7}[role]
    net.add_node(
        node,
        label=cut_name(name, MAX_PICTURE_NAME_CHARACTERS),
        title=cut_name(tr("{name} · {degree:,} edges", name=name, degree=graph.degree(node)), 200),
        shape="diamond" if role == "here" else "dot",
        size=size,
        color=colours[role],
        font={
            "size": {"here": 17, "near": 13, "far": 11}[role],
            "color": colours["faint" if role == "far" else "text"],
        },
        x=position[0] * LAYOUT_WIDTH,
        y=position[1] * LAYOUT_HEIGHT,
        outer=role == "far",
    )


def cut_name(text: str, limit: int) -> str:
    """Return `text` on one line, cut to `limit` characters.

    An invisible character splits each "href", because pyvis reads a title with this word as HTML.
    """
    text = " ".join(text.split())
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return _HREF_PATTERN.sub(lambda m: m.group()[:2] + "\u2060" + m.group()[2:], text)


def vis_options(colours: dict[str, str]) -> dict[str, Any]:
    """Return the options of vis.js, which draws the picture."""
    return {
        "physics": {"enabled": False},
        "interaction": {
            "hover": True,
            "tooltipDelay": 120,
            "navigationButtons": False,
            "dragNodes": True,
        },
        "nodes": {
            "borderWidth": 0,
            "font": {"strokeWidth": 3, "strokeColor": colours["paper"], "face": "sans-serif"},
        },
        "edges": {
            "smooth": False,
            "arrows": {"to": {"enabled": True, "scaleFactor": 0.45}},
            "font": {
                "size": 10,
                "color": colours["faint"],
                "strokeWidth": 3,
                "strokeColor": colours["paper"],
                "align": "middle",
            },
        },
    }


def self_contained_page(html: str, colours: dict[str, str]) -> str:
    """Return a page without external resources and without pyvis's frame around the drawing."""
    style = (
        f"<style>html,body{{margin:0;background:{colours['paper']};overflow:hidden}} "
        f"center{{display:none}} "
        f".card{{border:0!important}}"
        f"#mynetwork{{border:0!important;float:none!important;height:100vh!important}}"
        f"div.vis-tooltip{{font:13px sans-serif;color:{colours['text']};"
        f"background:{colours['paper']};border-color:{colours['edge']};"
        f"max-width:60vw;white-space:normal}}</style>"
    )
    return (
        _CDN_TAGS.sub("", html).replace("</head>", style + "</head>", 1)
        + f"<script>{_SCRIPT}</script>"
    )
