// Keeps the address that a person came with while they sign in, which leads to the first page without any of it.
//
// data: { keep } on the screen of sign-in, { pages, parameters } behind it. The address stays in this tab of the browser. Whatever is
// found there, one is led to a page of our own, with parameters of our own, on the server that this page is from.

const KEY = "hopscope-wished";

export default function wished({ data }) {
  const { location, sessionStorage } = globalThis;
  if (data.keep) {
    sessionStorage.setItem(KEY, location.pathname + location.search);
    return;
  }
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  const to = kept && !location.search ? own(kept, location.pathname, data) : "";
  if (to) location.replace(location.origin + to);
}

// The path and query of a kept address, of which only what is ours is left; nothing where that is the first page, which one is at.
function own(kept, first, { pages, parameters }) {
  const [path] = kept.split("?", 1);
  const query = kept.slice(path.length);
  const page = pages.find((name) => path === first + name);
  const asked = new URLSearchParams([...new URLSearchParams(query)].filter(([name]) => parameters.includes(name))).toString();
  return page === undefined || !(page || asked) ? "" : `${first}${page}${asked && "?"}${asked}`;
}
