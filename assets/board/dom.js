// Small helpers for elements that change only where they differ.

export function el(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function button(className, text, label, onClick) {
  const node = el("button", className, text);
  node.type = "button";
  if (label) {
    node.setAttribute("aria-label", label);
    node.title = label;
  }
  if (onClick) node.addEventListener("click", onClick);
  return node;
}

export function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
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
  const input = Object.assign(el("input", className), { type: "text", autocomplete: "off", spellcheck: false, ...others });
  const marks = { role: "combobox", "aria-label": label, "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id };
  for (const [name, value] of Object.entries(marks)) input.setAttribute(name, value);
  list.setAttribute("role", "listbox");
  return input;
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
