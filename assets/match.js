// The best matches of typed words, for lists that are searched as one types. Pure: no element, no state.

// How well typed words match some texts, the most visible first; a smaller number is better, Infinity is no match. The first text is the name:
// all of it, its beginning, then the words in it. Then come words that need the second text too, then the third.
export function matchRank(typed, [name, ...texts]) {
  const phrase = bareText(typed);
  const words = phrase.split(" ");
  const bareName = bareText(name);
  if (!phrase || bareName === phrase) return 0;
  if (bareName.startsWith(phrase)) return 1;
  if (` ${bareName}`.includes(` ${phrase}`)) return 2;
  if (words.every((word) => ` ${bareName}`.includes(` ${word}`))) return 3;
  let read = "";
  for (const [at, text] of [bareName, ...texts.map(bareText)].entries()) {
    read += ` ${text}`;
    if (text.includes(phrase)) return 4 + 2 * at; // words that stand together come before words that are spread
    if (words.every((word) => read.includes(word))) return 5 + 2 * at;
  }
  return Infinity;
}

// The things that match, best first, equal ones in their order; all where nothing is typed. `textsOf` gives the texts of a thing, the name first.
export function bestMatches(typed, things, textsOf) {
  const ranked = things.map((thing) => ({ thing, rank: matchRank(typed, textsOf(thing)) }));
  return ranked.filter(({ rank }) => rank < Infinity).sort((one, other) => one.rank - other.rank).map(({ thing }) => thing);
}

// Letters and digits in lower case without accents, words with one space between them.
function bareText(text) {
  return (text ?? "").normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();
}
