// Labels of a graph: in order of weight, each where it covers least; the light ones give way.

import { beads, fitIn, middle, overlap, square } from "./geometry.js";
import { LABEL } from "./style.js";

const measurer = document.createElement("canvas").getContext("2d");

function elide(text, font, most) {
  measurer.font = font;
  const letters = [...String(text ?? "").replace(/\s+/g, " ")];
  if (measurer.measureText(letters.join("")).width <= most) return letters.join("");
  let keep = letters.length;
  while (keep > 1 && measurer.measureText(`${letters.slice(0, keep).join("")}…`).width > most) keep -= 1;
  return `${letters.slice(0, keep).join("").trimEnd()}…`;
}

function labelWeight(mark) {
  const has = (name) => mark.split(" ").includes(name);
  if (has("dim")) return has("question") ? 1 : 0;
  if (has("lit")) return 9;
  if (has("question")) return 8;
  if (has("best")) return 7;
  if (has("answer")) return has("ghost") && !has("lost") ? 3 : 6;
  return has("path") ? 4 : 0;
}

// Step numbers of the edges long enough to carry one.
export function roomySteps(graph) {
  return new Map([...graph.marks.steps].filter(([id]) => {
    const edge = graph.edges.get(id);
    if (!edge) return false;
    const [from, to] = [graph.places.get(edge.source), graph.places.get(edge.target)];
    return Math.hypot(from.x - to.x, from.y - to.y) >= (/best|lit/.test(graph.marks.edges.get(id)) ? 26 : 44);
  }));
}

export function layLabels(graph, bounds, steps) {
  const font = `500 ${LABEL}px ${graph.board.theme.font}`;
  const most = Math.max(64, Math.min(130, graph.canvas.clientWidth * 0.36));
  const taken = [];
  const dots = [...graph.places].filter(([id]) => !/dim/.test(graph.marks.nodes.get(id) ?? "")).map(([id, at]) => square(at, nodeRadius(graph.marks.nodes.get(id) ?? "") + 1));
  const badges = [...steps.keys()].map((id) => graph.edges.get(id))
    .map((edge) => square(middle(graph.places.get(edge.source), graph.places.get(edge.target)), 7));
  badges.push(...[...graph.marks.edges].filter(([, mark]) => /path|lit/.test(mark) && !/dim/.test(mark))
    .flatMap(([id]) => beads(graph.places.get(graph.edges.get(id).source), graph.places.get(graph.edges.get(id).target))));
  const ordered = [...graph.nodes.values()].map((node) => ({ node, weight: labelWeight(graph.marks.nodes.get(node.id) ?? "") }))
    .filter((entry) => entry.weight > 0).sort((one, two) => two.weight - one.weight);
  const labels = new Map();
  for (const { node, weight } of ordered) {
    const text = elide(node.name, font, most);
    const width = measurer.measureText(text).width + 4;
    const spot = bestSpot(graph.places.get(node.id), nodeRadius(graph.marks.nodes.get(node.id)), width, bounds, taken, dots, badges);
    if (weight < 6 && (spot.covered > 0 || spot.crossed > 0.3)) continue;
    taken.push(spot.box);
    labels.set(node.id, { label: text, mx: spot.dx, my: spot.dy });
  }
  return labels;
}

function nodeRadius(mark) {
  if (/question|answer/.test(mark)) return 9;
  return /path|lit|best/.test(mark) ? 6.5 : 4;
}

function bestSpot(at, radius, width, bounds, taken, dots, badges) {
  const height = LABEL + 4;
  const down = radius + height / 2 + 1;
  const side = radius + width / 2 + 2;
  const half = width / 2 - 6;
  const spots = [[0, down], [0, -down], [side, 0], [-side, 0], [half, down], [-half, down], [half, -down], [-half, -down], [0, down + height], [0, -down - height]];
  let best = null;
  spots.forEach(([dx, dy], index) => {
    const spot = fitIn({ x: at.x + dx, y: at.y + dy }, width, height, bounds);
    const covered = overlap(spot.box, taken) / (width * height);
    const moved = Math.hypot(spot.x - at.x - dx, spot.y - at.y - dy);
    const crossed = (overlap(spot.box, dots) + overlap(spot.box, badges)) / (width * height);
    const cost = covered * 10 + crossed * 4 + index * 0.04 + moved * 0.01;
    if (!best || cost < best.cost) best = { cost, covered, crossed, box: spot.box, dx: Math.round(spot.x - (width - 4) / 2) + (width - 4) / 2 - at.x, dy: Math.round(spot.y - at.y) };
  });
  return best;
}
