// Cytoscape items: their ids, and data and classes that are set only when they differ.

// Cytoscape paints anew whatever is set, even to the same value.
export function setData(item, wanted) {
  const now = item.data();
  if (Object.keys(wanted).some((name) => now[name] !== wanted[name])) item.data(wanted);
}

export function setClasses(item, wanted) {
  const text = wanted.trim().replace(/\s+/g, " ");
  if (item.scratch("_classes") === text) return;
  item.scratch("_classes", text);
  item.classes(text);
}

export const idOf = (item) => item.scratch("_id") ?? rememberId(item);

function rememberId(item) {
  const text = item.id().slice(1);
  const id = /^-?\d+$/.test(text) ? Number(text) : text;
  item.scratch("_id", id);
  return id;
}
