// Faults of a page's layout: it scrolls sideways, visible controls overlap, or the text of a button is cut. A line of text each.
() => {
  const deep = (root) => [...root.querySelectorAll("*")].flatMap((one) => [one, ...(one.shadowRoot ? deep(one.shadowRoot) : [])]);
  const parent = (one) => one.assignedSlot ?? one.parentElement ?? one.getRootNode().host ?? null;
  const ancestors = (one) => (one ? [one, ...ancestors(parent(one))] : []);
  const name = (one) => `${one.tagName.toLowerCase()}.${one.className} "${(one.getAttribute("aria-label") || one.textContent || one.value || "").trim().slice(0, 40)}"`;
  const all = deep(document);

  // The part of an element's box that nothing clips; null where none of it is seen.
  const seen = (one) => {
    if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return null;
    const boxes = ancestors(one).filter((at) => at === one || (at !== document.documentElement && /auto|scroll|hidden|clip/.test(getComputedStyle(at).overflow)));
    const rects = boxes.map((at) => at.getBoundingClientRect());
    const box = {
      left: Math.max(...rects.map((rect) => rect.left)), right: Math.min(...rects.map((rect) => rect.right)),
      top: Math.max(...rects.map((rect) => rect.top)), bottom: Math.min(...rects.map((rect) => rect.bottom)),
    };
    return box.right - box.left > 1 && box.bottom - box.top > 1 ? box : null;
  };
  // What lies over the page on purpose: things are compared within it alone.
  const layer = (one) => ancestors(one).find((at) => /fixed|sticky/.test(getComputedStyle(at).position) || at.matches("[popover], dialog, [data-testid=stSidebar], [data-testid=stHeader]"));

  const faults = [];
  for (const one of [document.documentElement, document.querySelector("[data-testid=stMain]")]) {
    if (one && one.scrollWidth > one.clientWidth + 1) faults.push(`scrolls sideways: ${one.scrollWidth} in ${one.clientWidth}`);
  }
  const kinds = "button, a[href], input:not([type=hidden]), select, textarea, summary, [role=button], [role=tab], [role=slider], [role=switch], .chip";
  const controls = all.filter((one) => one.matches(kinds)).map((one) => ({ one, box: seen(one), layer: layer(one), around: ancestors(one) })).filter(({ box }) => box);
  for (const [at, first] of controls.entries()) {
    for (const other of controls.slice(at + 1)) {
      if (first.layer !== other.layer || first.around.includes(other.one) || other.around.includes(first.one)) continue;
      const across = Math.min(first.box.right, other.box.right) - Math.max(first.box.left, other.box.left);
      const down = Math.min(first.box.bottom, other.box.bottom) - Math.max(first.box.top, other.box.top);
      if (across > 2 && down > 2) faults.push(`overlap by ${Math.round(across)} x ${Math.round(down)}: ${name(first.one)} and ${name(other.one)}`);
    }
  }
  for (const { one } of controls.filter((control) => control.one.matches("button, [role=button], [role=tab]"))) {
    const own = one.getBoundingClientRect();
    const isCut = [one, ...deep(one)].some((part) => {
      const written = [...part.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
      const style = getComputedStyle(part);
      if (!written || part.matches("[data-testid=stIconMaterial]") || style.position === "absolute" || !part.checkVisibility({ visibilityProperty: true })) return false;
      const range = document.createRange();
      range.selectNodeContents(part);
      const words = range.getBoundingClientRect();
      return (/hidden|clip/.test(style.overflow) && part.scrollWidth > part.clientWidth + 1) || words.right > own.right + 2 || words.left < own.left - 2 || words.bottom > own.bottom + 3;
    });
    if (isCut) faults.push(`text cut: ${name(one)}`);
  }
  return [...new Set(faults)];
}
