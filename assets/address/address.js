// Gives a page that was come to without an address its own, in place: a new entry would stand in the way of Back. What a page drew last may
// be run after the person went to the next one, whose address it is not.

export default function address({ data }) {
  const { location, history } = globalThis;
  const here = location.pathname.endsWith(`/${data?.page}`);
  if (data?.query && here && !location.search) {
    history.replaceState(history.state, "", `${location.pathname}?${data.query}`);
  }
}
