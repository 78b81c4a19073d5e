// A list of which the first few are shown until all are asked for.

import { setHidden, setText } from "./dom.js";
import { tr } from "../wording.js";

// `more` is the button that asks for all, in the words of `said(size)`.
export function foldRows(rows, more, all, few, said) {
  const size = rows.children.length;
  [...rows.children].forEach((item, index) => setHidden(item, !all && index >= few));
  setHidden(more, size <= few);
  setText(more, all ? tr("Show fewer") : said(size));
  more.setAttribute("aria-expanded", String(Boolean(all)));
}
