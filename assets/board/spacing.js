// Room for marks: no star or diamond lies on another one. Where they do not fit as they are drawn they are moved, and drawn smaller.

export const STAR = 20; // the width of the largest mark at size 1
const AIR = 2;
const LEAST = 13; // a mark below which a crowded column becomes several
const SMALLEST_LABEL = 11; // pixels
const DENSE = 0.4; // of the canvas that marks may fill
const ROUNDS = 200;

// The places of a few nodes that stand in columns, the size of their marks, and that of their labels: small enough for each star's own.
export function inColumns(places, stars, { node: size, label }) {
  const columns = new Map();
  for (const [id, at] of places) columns.set(at.x, [...(columns.get(at.x) ?? []), [id, at]]);
  const first = Math.min(...columns.keys());
  const crowds = [...columns].map(([x, column]) => crowd(x, column));
  const mark = Math.min(STAR * size, ...crowds.map(({ room }) => room));
  const moved = new Map();
  for (const { x, column, files } of crowds) {
    column.forEach(([id, at], index) => moved.set(id, { x: at.x + (x === first ? 1 : -1) * (index % files) * (mark + AIR), y: at.y }));
  }
  const gap = Math.min(...crowds.filter(({ column }) => column.some(([id]) => stars.includes(id))).map((one) => one.gap));
  return { places: moved, size: mark / STAR, label: Math.max(SMALLEST_LABEL, Math.min(label, Math.floor(gap) - 2)) };
}

// Into how many files a column is spread, and how large a mark may then be.
function crowd(x, column) {
  column.sort((one, two) => one[1].y - two[1].y);
  const gap = Math.min(Infinity, ...column.slice(1).map(([, at], index) => at.y - column[index][1].y));
  const files = gap > 0 ? Math.max(1, Math.ceil((LEAST + AIR) / gap)) : column.length;
  return { x, column, files, gap, room: Math.max(LEAST, files * gap - AIR) };
}

// The places of nodes that stand anywhere, of which those of `ids` are cleared of one another inside the box { left, right, top, bottom }.
export function clear(places, ids, size, box) {
  const marks = ids.filter((id) => places.has(id));
  const area = Math.max(0, box.right - box.left) * Math.max(0, box.bottom - box.top);
  const wide = Math.min(STAR * size, Math.sqrt((DENSE * area) / Math.max(1, marks.length)));
  const moved = new Map([...places].map(([id, at]) => [id, { ...at }]));
  const own = marks.map((id) => moved.get(id));
  for (let round = 0; round < ROUNDS && push(own, wide + AIR, box); round += 1);
  return { places: moved, size: wide / STAR };
}

// Pushes points that are nearer than `least` apart; whether there were any.
function push(points, least, box) {
  let near = false;
  points.forEach((one, index) => points.slice(index + 1).forEach((two, later) => {
    let [dx, dy] = [two.x - one.x, two.y - one.y];
    const away = Math.hypot(dx, dy);
    if (away >= least) return;
    near = true;
    if (away < 0.01) [dx, dy] = [Math.cos(index + later), Math.sin(index + later)];
    const part = ((least - away) / 2 + 0.25) / (away < 0.01 ? 1 : away);
    shift(one, -dx * part, -dy * part, box);
    shift(two, dx * part, dy * part, box);
  }));
  return near;
}

function shift(at, dx, dy, box) {
  at.x = Math.min(box.right, Math.max(box.left, at.x + dx));
  at.y = Math.min(box.bottom, Math.max(box.top, at.y + dy));
}
