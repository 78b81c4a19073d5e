// Which node and edge of a lane looks how.

import { list } from "./words.js";

export function laneMarks(graph) {
  const { board, lane, focus } = graph;
  const { data } = lane;
  const inside = { nodes: new Set(list(data.nodes)), edges: new Set(list(data.edges)) };
  const top = list(data.paths).map((entry) => board.path(entry.key)).filter(Boolean);
  const shown = focus.key ? [board.path(focus.key)] : focus.frame ? focus.frame.map((key) => board.path(key)).filter(Boolean) : null;
  const best = members(shown && !focus.key ? shown : top.slice(0, 1));
  const all = members(top);
  const alive = data.alive ? new Set(data.alive) : all.nodes; // known answers on any kept path, shown in the list or not
  const lit = shown ? members(shown) : null;
  const tone = focus.key ? `tone-${focus.fate ?? "unknown"}` : "";
  const marks = { nodes: new Map(), edges: new Map(), steps: stepNumbers(shown ?? top) };
  const light = (kind, id) => (!lit ? "" : lit[kind].has(id) ? `lit ${tone}` : "dim");
  for (const node of graph.nodes.values()) {
    const path = all.nodes.has(node.id);
    const lost = node.role === "answer" && !alive.has(node.id) && lane.retrieved ? "lost" : "";
    const ghost = !path && !inside.nodes.has(node.id) ? "ghost" : "";
    marks.nodes.set(node.id, `${node.role ?? "plain"} ${path ? "path" : ""} ${best.nodes.has(node.id) ? "best" : ""} ${lost} ${ghost} ${light("nodes", node.id)}`);
  }
  for (const edge of graph.edges.values()) {
    const path = all.edges.has(edge.id);
    const ghost = !path && !inside.edges.has(edge.id) ? "ghost" : "";
    marks.edges.set(edge.id, `${path ? "path" : ""} ${best.edges.has(edge.id) ? "best" : ""} ${ghost} ${light("edges", edge.id)}`);
  }
  return marks;
}

function members(paths) {
  return { nodes: new Set(paths.flatMap((path) => list(path.nodes))), edges: new Set(paths.flatMap((path) => list(path.edges))) };
}

function stepNumbers(paths) {
  const steps = new Map();
  for (const path of paths) list(path.edges).forEach((edge, index) => steps.has(edge) || steps.set(edge, String(index + 1)));
  return steps;
}
