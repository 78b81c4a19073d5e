// Small helpers for elements that change only where they differ.

// An element with a class, or with attributes; those without a value are left out.
export const el = (tag, look, ...children) => filled(document.createElement(tag), attributesOf(look), children);

export const svg = (tag, attributes, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Corners of a star, or of a diamond, around a point, as the attribute of a polygon.
export function starPoints({ x, y }, width, height = width, corners = 10) {
  const points = Array.from({ length: corners }, (_, index) => {
    const far = corners === 10 && index % 2 ? 0.42 : 1;
    const turn = (index * 2 * Math.PI) / corners;
    return `${x + far * width * Math.sin(turn)},${y - far * height * Math.cos(turn)}`;
  });
  return points.join(" ");
}

export function button(look, text, label, onClick) {
  const node = el("button", { type: "button", "aria-label": label, title: label, ...attributesOf(look) }, text);
  if (onClick) node.addEventListener("click", onClick);
  return node;
}

const attributesOf = (look) => (typeof look === "string" ? { class: look } : look ?? {});

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if ((value ?? "") !== "") node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function setText(node, text) {
  const wanted = text ?? "";
  if (node.textContent !== wanted) node.textContent = wanted;
}

export function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

// An input that points at rows of a list (WAI-ARIA authoring practices, list autocomplete).
export function combobox(className, label, list, others) {
  list.setAttribute("role", "listbox");
  const marks = { role: "combobox", "aria-label": label, "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id };
  return el("input", { class: className, type: "text", autocomplete: "off", spellcheck: "false", ...marks, ...others });
}

// Makes one of the rows the active one; none where there is no such row.
export function pointAt(input, rows, place) {
  for (const [at, row] of rows.entries()) row.setAttribute("aria-selected", String(at === place));
  if (rows[place]) {
    input.setAttribute("aria-activedescendant", rows[place].id);
    rows[place].scrollIntoView({ block: "nearest" });
  } else input.removeAttribute("aria-activedescendant");
}

export function changed(memo, name, value) {
  const text = JSON.stringify(value) ?? "";
  if (memo[name] === text) return false;
  memo[name] = text;
  return true;
}

// Keeps one child per key, reuses the old ones, moves only what is out of place.
export function reconcile(parent, items, keyOf, make, patch) {
  const old = parent.itemsByKey ?? new Map();
  const next = new Map();
  let place = parent.firstChild;
  for (const [index, item] of items.entries()) {
    const key = keyOf(item, index);
    const node = old.get(key) ?? make(item);
    old.delete(key);
    next.set(key, node);
    patch(node, item);
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
  for (const node of old.values()) node.remove();
  parent.itemsByKey = next;
}
