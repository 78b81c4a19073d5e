// Which node and edge of a lane looks how.

import { list } from "./words.js";

export function laneMarks(graph) {
  const { board, lane, focus } = graph;
  const { data } = lane;
  const inside = { nodes: new Set(list(data.nodes)), edges: new Set(list(data.edges)) };
  const top = list(data.paths).map((entry) => board.path(entry.key)).filter(Boolean);
  const shown = shownPaths(board, focus);
  const best = members(shown && focus.frame ? shown : top.slice(0, 1));
  const walked = members(top);
  const all = data.kept ? { nodes: new Set(list(data.kept.nodes)), edges: new Set(list(data.kept.edges)) } : walked;
  const alive = data.alive ? new Set(data.alive) : all.nodes; // known answers on any kept path, shown in the list or not
  const named = lane.soFar && data.reader ? new Set(data.reader) : null; // of a lane at work its answer so far counts
  const lit = shown ? members(shown) : null;
  if (lit && focus.node !== null) lit.nodes.add(focus.node);
  const tone = focus.key ? `tone-${focus.fate ?? "unknown"}` : "";
  const marks = { nodes: new Map(), edges: new Map(), steps: stepNumbers(shown ?? top) };
  const light = (kind, id) => (!lit ? "" : lit[kind].has(id) ? `lit ${tone}` : "dim");
  const { agreed } = board;
  for (const node of graph.nodes.values()) {
    const path = all.nodes.has(node.id);
    const missed = lane.retrieved && !lane.soFar ? "lost" : "open"; // of a lane at work it may come yet
    const got = alive.has(node.id) && (!named || named.has(node.name));
    const lost = ["answer", "gold"].includes(node.role) && !got ? missed : "";
    const ghost = !path && !inside.nodes.has(node.id) ? "ghost" : "";
    const same = path && agreed.nodes.has(node.id) ? "same" : "";
    const picked = node.id === graph.clicked ? "picked" : "";
    marks.nodes.set(node.id, `${node.role ?? "plain"} ${path ? "path" : ""} ${best.nodes.has(node.id) ? "best" : ""} ${lost} ${ghost} ${same} ${picked} ${light("nodes", node.id)}`);
  }
  for (const edge of graph.edges.values()) {
    const path = all.edges.has(edge.id);
    const ghost = !path && !inside.edges.has(edge.id) ? "ghost" : "";
    const top1 = best.edges.has(edge.id);
    const same = path && agreed.edges.has(edge.id) && (!top1 || agreed.best.has(edge.id)) ? "same" : "";
    marks.edges.set(edge.id, `${data.kept && !walked.edges.has(edge.id) ? "documents" : ""} ${path ? "path" : ""} ${top1 ? "best" : ""} ${ghost} ${same} ${light("edges", edge.id)}`);
  }
  return marks;
}

// The paths that something points at: one by its key, those of a frame, or those that a word of the answer rests on.
function shownPaths(board, { key, frame, node }) {
  if (key) return board.path(key) ? [board.path(key)] : null; // it may have gone with an edit
  if (frame) return frame.map((one) => board.path(one)).filter(Boolean);
  return node === null ? null : [];
}

function members(paths) {
  return { nodes: new Set(paths.flatMap((path) => list(path.nodes))), edges: new Set(paths.flatMap((path) => list(path.edges))) };
}

function stepNumbers(paths) {
  const steps = new Map();
  for (const path of paths) list(path.edges).forEach((edge, index) => steps.has(edge) || steps.set(edge, String(index + 1)));
  return steps;
}
