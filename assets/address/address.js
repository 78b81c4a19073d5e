// Gives a page that was come to without an address its own, in place: a new entry would stand in the way of Back.

export default function address({ data }) {
  const { location, history } = globalThis;
  if (data?.query && !location.search) history.replaceState(history.state, "", `${location.pathname}?${data.query}`);
}
