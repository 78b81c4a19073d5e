// Points, boxes and distances in the plane.

export const square = (at, radius) => ({ x1: at.x - radius, x2: at.x + radius, y1: at.y - radius, y2: at.y + radius });
const between = (from, to, part) => ({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
export const middle = (one, two) => between(one, two, 0.5);

export function overlap(box, others) {
  return others.reduce((sum, other) => {
    const width = Math.min(box.x2, other.x2) - Math.max(box.x1, other.x1);
    const height = Math.min(box.y2, other.y2) - Math.max(box.y1, other.y1);
    return sum + (width > 0 && height > 0 ? width * height : 0);
  }, 0);
}

export function segmentDistance(at, from, to) {
  if (!from || !to) return Infinity;
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const part = Math.max(0, Math.min(1, ((at.x - from.x) * dx + (at.y - from.y) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(at.x - from.x - part * dx, at.y - from.y - part * dy);
}

export function fitIn(centre, width, height, bounds) {
  let { x, y } = centre;
  if (bounds) {
    x = Math.min(Math.max(x, bounds.x1 + width / 2), bounds.x2 - width / 2);
    y = Math.min(Math.max(y, bounds.y1 + height / 2), bounds.y2 - height / 2);
  }
  return { x, y, box: { x1: x - width / 2, x2: x + width / 2, y1: y - height / 2, y2: y + height / 2 } };
}

// Small squares along a line, for labels to keep clear of.
export function beads(from, to) {
  const pieces = Math.min(60, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 5));
  return Array.from({ length: pieces }, (_, index) => square(between(from, to, (index + 0.5) / pieces), 2.5));
}
