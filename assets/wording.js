// Texts in the server's language: `TRANSLATIONS` comes before the modules (pages/parts/shared/wording.py), with empty tables in English.

const { texts = {}, nouns: forms = {}, plurals = [] } = typeof TRANSLATIONS === "undefined" ? {} : TRANSLATIONS;

// A text with the values in its braces.
export function tr(text, values = {}) {
  return (texts[text] ?? text).replace(/\{(\w+)\}/g, (braces, name) => (name in values ? String(values[name]) : braces));
}

// The noun that goes with a number; `more` where the plural is not made by an s.
export function nounOf(number, one, more = `${one}s`) {
  const found = forms[one]?.[plurals[number < 200 ? number : 100 + (number % 100)]];
  return found ?? (number === 1 ? one : more);
}

// An English noun for `nounOf` or `plural` later: so it is among the texts to translate.
export const nouns = (one) => one;
