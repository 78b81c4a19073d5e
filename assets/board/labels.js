// Labels of a graph: in order of weight, each beside its node where it covers nothing; one that finds no such place is left out, but for
// those that the sentence for all lanes names.

import { beads, fitIn, middle, overlap, square } from "./geometry.js";
import { nodeRadius } from "./style.js";

const measurer = document.createElement("canvas").getContext("2d");
const SHORTER = [1, 0.84, 0.7, 0.5]; // of the longest a label may be, tried in this order

function elide(text, font, most) {
  measurer.font = font;
  const letters = [...String(text ?? "").replace(/\s+/g, " ")];
  if (measurer.measureText(letters.join("")).width <= most) return letters.join("");
  let keep = letters.length;
  while (keep > 1 && measurer.measureText(`${letters.slice(0, keep).join("")}…`).width > most) keep -= 1;
  return `${letters.slice(0, keep).join("").trimEnd()}…`;
}

function labelWeight(mark, large) {
  const has = (name) => mark.split(" ").includes(name);
  if (has("dim")) return has("question") ? 1 : 0;
  if (has("lit") || has("picked")) return 9;
  if (has("question")) return 8;
  if (has("gold")) return 7;
  if (has("answer")) return has("ghost") && !has("lost") ? 3 : 7;
  if (has("best")) return 6;
  return has("path") ? 4 : large ? 2 : 0;
}

// Step numbers of the edges long enough to carry one.
export function roomySteps(graph) {
  return new Map([...graph.marks.steps].filter(([id]) => {
    const edge = graph.edges.get(id);
    if (!edge) return false;
    const [from, to] = [graph.places.get(edge.source), graph.places.get(edge.target)];
    return Math.hypot(from.x - to.x, from.y - to.y) >= (/best|lit/.test(graph.marks.edges.get(id)) ? 26 : 44) * graph.size.node;
  }));
}

// The room that the names of the last column take at the right of their marks, in pixels.
export function lastNamesWidth(graph, width) {
  measurer.font = `500 ${graph.look.label}px ${graph.board.theme.font}`;
  const last = [...graph.base].filter(([, { x }]) => x > 0.99).map(([id]) => measurer.measureText(graph.nodes.get(id)?.name ?? "").width);
  return Math.min(Math.max(...last, 30) + 34, width * 0.4);
}

export function layLabels(graph, bounds, steps) {
  const { size } = graph;
  const markOf = (id) => graph.marks.nodes.get(id) ?? "";
  const most = Math.max(72, Math.min(graph.large ? 210 : 140, graph.canvas.clientWidth * 0.38));
  const box = (id, at) => square(at, nodeRadius(markOf(id), size) + 1);
  const hard = [...graph.places].filter(([id]) => graph.board.few || /question|answer|gold/.test(markOf(id)) || (/best|lit/.test(markOf(id)) && !/dim/.test(markOf(id)))).map(([id, at]) => [id, box(id, at)]);
  const soft = [...graph.places].filter(([id]) => !/dim/.test(markOf(id))).map(([id, at]) => box(id, at));
  const badges = [...steps.keys()].map((id) => graph.edges.get(id))
    .map((edge) => square(middle(graph.places.get(edge.source), graph.places.get(edge.target)), 7 * size.node));
  const lines = [...graph.marks.edges].filter(([, mark]) => /path|lit/.test(mark) && !/dim/.test(mark))
    .flatMap(([id]) => beads(graph.places.get(graph.edges.get(id).source), graph.places.get(graph.edges.get(id).target)));
  const ordered = [...graph.nodes.values()].map((node) => ({ node, weight: node.named ? 10 : labelWeight(markOf(node.id), graph.large) }))
    .filter((entry) => entry.weight > 0).sort((one, two) => two.weight - one.weight);
  const taken = [];
  const labels = new Map();
  for (const { node, weight } of ordered) {
    const font = `${/question/.test(markOf(node.id)) ? 600 : 500} ${size.label}px ${graph.board.theme.font}`;
    const blocked = [...taken, ...hard.filter(([id]) => id !== node.id).map(([, square]) => square)];
    const tries = SHORTER.map((part) => [part, false]);
    if (graph.board.few) tries.push([1, true], [0.7, true]); // rather short beside its node than whole over or under it,
    const star = graph.board.few && node.role === "answer";
    if (star) tries.splice(1, 0, [1, true]); // but an answer whole,
    if (star || node.named) tries.push([1, true, true]); // and in any case, as what the sentence for all lanes names
    for (const [part, around, always = false] of tries) {
      const text = elide(node.name, font, (star ? Math.max(most, bounds?.x2 ?? 0) : most) * part);
      const width = measurer.measureText(text).width + 6;
      const spot = bestSpot({ at: graph.places.get(node.id), radius: nodeRadius(markOf(node.id), size), width, height: size.label + (graph.board.few && !around ? 2 : 5), bounds, columns: graph.board.few, around, always, first: /question/.test(markOf(node.id)), blocked, soft, badges, lines });
      if (!spot || (weight < 6 && !graph.large && spot.crossed > 0.4)) continue;
      taken.push(spot.box);
      labels.set(node.id, { label: text, mx: spot.dx, my: spot.dy });
      break;
    }
  }
  return labels;
}

// Of the places around a node the cheapest that covers no label and no mark, or as little as can be (`always`); null where there is none.
function bestSpot({ at, radius, width, height, bounds, columns, around, always, first, blocked, soft, badges, lines }) {
  const down = radius + height / 2 + 1;
  const side = radius + width / 2 + 2;
  const half = width / 2 - radius;
  const near = [[0, down], [0, -down], [side, 0], [-side, 0], [half, down], [-half, down], [half, -down], [-half, -down],
    [side, height / 2], [-side, height / 2], [side, -height / 2], [-side, -height / 2]];
  const far = [[0, down + 7], [0, -down - 7], [half, down + 7], [-half, down + 7], [half, -down - 7], [-half, -down - 7]];
  const area = width * height;
  const order = !columns || always ? [...near, ...far] : first ? firstColumn(side, half, down) : around ? [[0, down], [0, -down]] : [[side, 0], [side, height / 2], [side, -height / 2]];
  let best = null;
  order.forEach(([dx, dy], index) => {
    const spot = fitIn({ x: at.x + dx, y: at.y + dy }, width, height, bounds);
    const moved = Math.hypot(spot.x - at.x - dx, spot.y - at.y - dy);
    const own = overlap(spot.box, [square(at, radius)]);
    const covered = overlap(spot.box, blocked);
    if (!always && (moved > width * 0.6 || own > 3 || covered > 0)) return;
    const crossed = (overlap(spot.box, soft) * 2 + overlap(spot.box, badges) * 2 + overlap(spot.box, lines) * (columns && !first ? 0.1 : 1)) / area;
    const cost = crossed * 4 + index * 0.04 + moved * 0.01 + ((covered + own) * 20) / area;
    if (!best || cost < best.cost) best = { cost, crossed, box: spot.box, dx: Math.round(spot.x - (width - 6) / 2) + (width - 6) / 2 - at.x, dy: Math.round(spot.y - at.y) };
  });
  return best;
}

// The first column has its place to itself: above or below its mark, as far as its edges ask for.
function firstColumn(side, half, down) {
  return [...[0, 14, 28, 42, 56, 70, 84, 98].flatMap((more) => [[half, down + more], [half, -down - more]]), [side, 0]];
}
