// Labels of a graph: in order of weight, each beside its node where it covers nothing. On a large picture a name stands whole, in rows if
// need be, and is shortened where it has no such place; one that finds none is left out, but for those that the sentence for all lanes names.

import { beads, fitIn, middle, overlap, square } from "./geometry.js";
import { nodeRadius, ROW } from "./style.js";

const measurer = document.createElement("canvas").getContext("2d");
const SHORTER = [1, 0.84, 0.7, 0.5]; // of the longest a label may be, tried in this order
const LONGER = [1.6, 1.3]; // where columns leave more room
const FIRSTS = [0, 14, 28, 42, 56, 70, 84, 98]; // pixels over or under its mark at which a name of the first column stands
const FIRST_COLUMN = 58; // pixels of the first column, whose names stand over and under it, where the next one lets them
const MARK = 34; // pixels of a mark and the air around it

const oneLine = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
const widest = (rows) => Math.max(...rows.map((row) => measurer.measureText(row).width));

// The words in so many rows, the widest of which is as narrow as can be; fewer rows where there are fewer words.
function inRows(words, count) {
  if (count < 2 || words.length < 2) return [words.join(" ")];
  const breaks = words.slice(1).map((_, index) => [words.slice(0, index + 1).join(" "), ...inRows(words.slice(index + 1), count - 1)]);
  return breaks.reduce((best, rows) => (widest(rows) < widest(best) ? rows : best));
}

function elide(text, most) {
  const letters = [...oneLine(text)];
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

// Where the columns of a few nodes stand, in pixels by their place: as far apart as their names ask for, in one row or, where rows have the
// height, in two.
export function columnPlaces(graph, { left, top, bottom }, width, height) {
  measurer.font = `500 ${graph.look.label}px ${graph.board.theme.font}`;
  const nodes = [...graph.nodes.values()];
  const columns = [...new Set(nodes.map(({ x }) => x))].sort((one, two) => one - two).map((x) => nodes.filter((node) => node.x === x));
  const high = (column) => (height - top - bottom) / Math.max(1, column.length - 1);
  const names = (column, rows) => Math.min(width * 0.4, Math.max(30, ...column.map(({ name }) => widest(inRows(oneLine(name).split(" "), rows)))));
  const dense = high(columns[1] ?? []) < graph.look.label + MARK;
  const first = (column, rows) => (dense ? MARK / 2 + names(column, rows) : FIRST_COLUMN);
  const fits = Math.min(...columns.map(high)) >= (1 + 2 * ROW) * graph.look.label;
  const asked = (rows) => columns.map((column, index) => (index ? MARK + names(column, rows) : first(column, rows)));
  const [whole, least] = [asked(1), asked(fits ? 2 : 1)];
  const sum = (widths) => widths.reduce((all, one) => all + one, 0);
  const room = width - left;
  const part = Math.min(1, (room - sum(least)) / (sum(whole) - sum(least) || 1)); // below 0 they are nearer than asked for
  const spare = Math.max(0, room - sum(whole)) / Math.max(1, columns.length - 1.5);
  const squeeze = (room - least.at(-1)) / (sum(least.slice(0, -1)) || 1); // the names at the ends stay whole
  let x = left;
  return new Map(columns.map((column, index) => {
    const place = [column[0].x, x];
    x += part < 0 ? least[index] * squeeze : least[index] + part * (whole[index] - least[index]) + spare * (index ? 1 : 0.5);
    return place;
  }));
}

export function layLabels(graph, bounds, steps) {
  const { columns, large, size } = graph;
  const markOf = (id) => graph.marks.nodes.get(id) ?? "";
  const most = Math.max(72, Math.min(large ? 210 : 140, graph.canvas.clientWidth * 0.38));
  const box = (id, at) => square(at, nodeRadius(markOf(id), size) + 1);
  const hard = [...graph.places].filter(([id]) => graph.board.few || /question|answer|gold/.test(markOf(id)) || (/best|lit/.test(markOf(id)) && !/dim/.test(markOf(id)))).map(([id, at]) => [id, box(id, at)]);
  const soft = [...graph.places].filter(([id]) => !/dim/.test(markOf(id))).map(([id, at]) => box(id, at));
  const badges = [...steps.keys()].map((id) => graph.edges.get(id))
    .map((edge) => square(middle(graph.places.get(edge.source), graph.places.get(edge.target)), 7 * size.node));
  const lines = [...graph.marks.edges].filter(([, mark]) => /path|lit/.test(mark) && !/dim/.test(mark))
    .flatMap(([id]) => beads(graph.places.get(graph.edges.get(id).source), graph.places.get(graph.edges.get(id).target)));
  const ordered = [...graph.nodes.values()].map((node) => ({ node, weight: node.named ? 10 : labelWeight(markOf(node.id), large) }))
    .filter((entry) => entry.weight > 0).sort((one, two) => two.weight - one.weight);
  const taken = [];
  const labels = new Map();
  const high = (count) => size.label * (count > 1 ? ROW * count : 1);
  // Each name in its own row first, then where others leave room, then shortened; without columns one name after the other.
  const turns = columns ? ["row", "room", "short"] : ["all"];
  for (const [turn, { node, weight }] of turns.flatMap((turn) => ordered.map((entry) => [turn, entry]))) {
    if (labels.has(node.id)) continue;
    const at = graph.places.get(node.id);
    const first = /question/.test(markOf(node.id));
    measurer.font = `${first ? 600 : 500} ${size.label}px ${graph.board.theme.font}`;
    const blocked = [...taken, ...hard.filter(([id]) => id !== node.id).map(([, square]) => square)];
    const words = oneLine(node.name).split(" ");
    const whole = (count, ...how) => [() => inRows(words, count), ...how];
    const short = (part, ...how) => [() => [elide(node.name, most * part)], ...how];
    const gap = Math.min(...[...graph.nodes.values()].filter((other) => other !== node && other.x === node.x).map(({ id }) => Math.abs(graph.places.get(id).y - at.y)));
    const kept = node.named || (columns && node.role === "answer"); // whole in any case
    const tries = {
      row: [1, 2, 3].filter((count) => count === 1 || high(count) < gap).map((count) => whole(count)).concat(kept ? [whole(1, true), whole(2, true), whole(1, true, true)] : []),
      room: [whole(1, true), whole(2, true), whole(2), whole(3)],
      short: [...LONGER, ...SHORTER].map((part) => short(part)).concat([short(0.7, true)]),
      all: [...(large ? [whole(1), whole(2), whole(3)] : []), ...SHORTER.filter((part) => part === 1 || !large || node.role === "gold").map((part) => short(part)), ...(kept ? [whole(1, true, true)] : [])],
    };
    for (const [make, around = false, always = false] of tries[turn]) {
      const rows = make();
      const width = widest(rows) + 6;
      const height = high(rows.length) + (columns && !around ? 2 : 5);
      const spot = bestSpot({ at, radius: nodeRadius(markOf(node.id), size), width, height, bounds, columns, around, always, first, blocked, soft, badges, lines });
      if (!spot || (weight < 6 && !large && spot.crossed > 0.4)) continue;
      taken.push(spot.box);
      labels.set(node.id, { label: rows.join("\n"), mx: spot.dx, my: spot.dy });
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
  const order = !columns || always ? [...near, ...far] : first ? FIRSTS.flatMap((more) => [[half, down + more], [half, -down - more]]) : around ? [[0, down], [0, -down], [half, down], [half, -down], [-side, 0]] : [[side, 0], [side, height / 2], [side, -height / 2]];
  let best = null;
  order.forEach(([dx, dy], index) => {
    const spot = fitIn({ x: at.x + dx, y: at.y + dy }, width, height, bounds);
    const moved = Math.hypot(spot.x - at.x - dx, spot.y - at.y - dy);
    const own = overlap(spot.box, [square(at, radius)]);
    const covered = overlap(spot.box, blocked);
    if (!always && (moved > width * 0.6 || own > 3 || covered > 0)) return;
    const crossed = (overlap(spot.box, soft) * 2 + overlap(spot.box, badges) * 2 + (columns && !first ? 0 : overlap(spot.box, lines))) / area;
    const cost = crossed * 4 + index * (columns && first ? 0.1 : 0.04) + moved * 0.01 + ((covered + own) * 20) / area;
    if (!best || cost < best.cost) best = { cost, crossed, box: spot.box, dx: Math.round(spot.x - (width - 6) / 2) + (width - 6) / 2 - at.x, dy: Math.round(spot.y - at.y) };
  });
  return best;
}
