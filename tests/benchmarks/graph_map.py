"""The map of a graph: its layout, and what a person waits for in a browser without a GPU.

For graphs of 20,000 nodes with 60,000 edges and of 100,000 with 300,000: seconds and memory of the
layout, seconds from the address to the first picture of a saved layout, the longest frame while the
map is dragged and zoomed, and seconds until it is sharp again, for the whole and four steps nearer.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from core.graph.building.build import build
from core.graph.store import Graph
from core.indexes.graph_maps import load_map
from tests.benchmarks.processor import processor
from tests.server import open_page, server, settle

SIZES = ((20_000, 60_000), (100_000, 300_000))
N_TOPICS = 120
SHARP = ".map canvas[data-named=true][data-moving=false]"
OUTSIDE_SHARE = 0.12  # of the edges, between two topics
# Drags or zooms once a frame, and returns the longest frame and the time until the map is sharp.
MOVE = """(canvas, [kind, frames]) => new Promise((done) => {
  const box = canvas.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
  const send = (type, more) => canvas.dispatchEvent(type === "wheel"
    ? new WheelEvent(type, { clientX: x, clientY: y, cancelable: true, ...more })
    : new PointerEvent(type, { pointerId: 1, bubbles: true, ...more }));
  canvas.setPointerCapture = () => {};
  let frame = 0, last = 0, longest = 0;
  if (kind === "drag") send("pointerdown", { clientX: x, clientY: y });
  const step = (now) => {
    if (last) longest = Math.max(longest, now - last);
    last = now;
    if (frame++ < frames) {
      if (kind === "drag") send("pointermove", { clientX: x + 2 * frame, clientY: y + frame });
      else send("wheel", { deltaY: -30 });
      return requestAnimationFrame(step);
    }
    if (kind === "drag") send("pointerup", { clientX: x + 2 * frames, clientY: y + frames });
    const rested = performance.now();
    const look = setInterval(() => {
      if (canvas.dataset.moving !== "false") return;
      clearInterval(look);
      done([longest, (performance.now() - rested) / 1000, canvas.dataset.nodes, canvas.dataset.edges]);
    }, 5);
  };
  requestAnimationFrame(step);
})"""


def made_graph(folder: Path, n: int, m: int) -> Graph:
    """Build a graph of topics whose nodes have degrees like those of real graphs."""
    random = np.random.default_rng(0)
    topic = np.minimum((N_TOPICS * random.power(0.6, n)).astype(int), N_TOPICS - 1)
    weight = random.permutation(1 / np.arange(1, n + 1) ** 0.6)
    heads = random.choice(n, m, p=weight / weight.sum())
    tails = random.choice(n, m, p=weight / weight.sum())
    is_inner = random.random(m) >= OUTSIDE_SHARE
    for one in range(N_TOPICS):
        members, rows = (
            np.flatnonzero(topic == one),
            np.flatnonzero(is_inner & (topic[heads] == one)),
        )
        if len(rows):
            share = weight[members] / weight[members].sum()
            tails[rows] = random.choice(members, len(rows), p=share)
    names = [f"entity {i:06}" for i in range(n)]
    triples = ((names[h], "links", names[t]) for h, t in zip(heads.tolist(), tails.tolist()))
    return build(triples, folder, folder.name, "both")


def run() -> list[dict]:
    """Rows of both graphs; the note of the first names the processor."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOPSCOPE_HOME"] = home
        rows = [row for n, m in SIZES for row in _layout_rows(Path(home), n, m)]
        with server(HOPSCOPE_HOME=home) as (address, _):
            for n, _ in SIZES:
                rows += _browser_rows(f"{address}/graphs?graph=made-{n}", n)
    rows[0]["note"] = processor()
    return rows


def _layout_rows(home: Path, n: int, m: int) -> list[dict]:
    graph = made_graph(home / "graphs" / f"made-{n}", n, m)
    start = time.perf_counter()
    load_map(graph)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return [
        {"name": f"{n:,} nodes: layout", "value": seconds, "unit": "s"},
        {"name": f"{n:,} nodes: memory of the layout", "value": memory, "unit": "MB"},
    ]


def _browser_rows(address: str, n: int) -> list[dict]:
    with open_page(address) as page:  # opens the graph
        page.wait_for_selector(SHARP, timeout=300_000)
    seconds = sorted(_first_picture(address) for _ in range(3))
    rows = [{"name": f"{n:,} nodes: first picture", "value": seconds[1], "unit": "s"}]
    with open_page(address) as page:
        page.wait_for_selector(SHARP, timeout=300_000)
        settle(page)
        canvas = page.locator(".map canvas")
        for kind, frames in (("drag", 60), ("zoom", 12), ("drag", 60)):
            longest, sharp, nodes, edges = canvas.evaluate(MOVE, [kind, frames])
            name = f"{n:,} nodes: {kind}"
            note = f"{int(nodes):,} nodes and {int(edges):,} edges drawn"
            rows.append(
                {"name": f"{name}, longest frame", "value": longest, "unit": "ms", "note": note}
            )
            rows.append({"name": f"{name}, sharp again", "value": sharp, "unit": "s"})
    return rows


def _first_picture(address: str) -> float:
    """Seconds from the empty canvas to the first picture."""
    with open_page(address) as page:
        page.wait_for_selector(".map canvas", timeout=300_000)
        start = time.perf_counter()
        page.wait_for_selector(".map canvas[data-nodes]", timeout=300_000)
        return time.perf_counter() - start
