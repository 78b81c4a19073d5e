// What the lanes agree on, so that it can be quiet, and what differs can have the colour.

import { list } from "./words.js";

const alike = (values) => values.length > 1 && values.every((value) => value === values[0]);

// All but those that failed, or were cancelled before they had retrieved all.
const compared = (board) => list(board.payload.lanes).filter((lane) => !["failed", "cancelled"].includes(lane.status) || (lane.retrieved && !lane.so_far));

export function agreement(board) {
  const lanes = compared(board);
  const stages = new Map();
  for (const lane of lanes.filter((one) => !one.so_far)) {
    for (const { stage, alive, of } of list(lane.funnel)) stages.set(stage, [...(stages.get(stage) ?? []), `${alive}/${of}`]);
  }
  const telling = lanes.filter((lane) => lane.funnel || ["waiting", "running"].includes(lane.status)); // without known answers, or a graph, a lane tells none
  const staged = (values) => values.length === telling.length && alike(values);
  const walked = lanes.filter((lane) => list(lane.paths).length).map((lane) => walkedBy(board, lane));
  return {
    stages: new Set([...stages].filter(([, values]) => staged(values)).map(([stage]) => stage)),
    nodes: common(walked.map((one) => one.nodes)),
    edges: common(walked.map((one) => one.edges)),
    best: common(walked.map((one) => one.best)),
  };
}

function walkedBy(board, lane) {
  const paths = list(lane.paths).map((entry) => board.path(entry.key)).filter(Boolean);
  return {
    nodes: new Set(paths.flatMap((path) => list(path.nodes))),
    edges: new Set(paths.flatMap((path) => list(path.edges))),
    best: new Set(list(paths[0]?.edges)),
  };
}

function common(sets) {
  if (sets.length < 2) return new Set();
  return new Set([...sets[0]].filter((id) => sets.every((set) => set.has(id))));
}

// Whether a path came to the same end in every lane that knows it.
export function sameFate(board, key) {
  const lanes = compared(board);
  return alike(lanes.map((lane) => board.fate(key, lane.id)?.fate ?? "none"));
}
