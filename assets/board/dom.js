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
