// Payload values as lists and words.

const FATE_WORDS = { found: "found", dropped: "dropped", never: "never reached" };

export const list = (value) => (Array.isArray(value) ? value : []);
export const count = (number) => (number === null || number === undefined ? "–" : Number(number).toLocaleString("en-US"));
export const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

export function score(value) {
  if (value === null || value === undefined || !Number.isFinite(Number(value))) return "";
  const number = Number(value);
  const size = Math.abs(number);
  const text = size !== 0 && size < 0.01 ? number.toExponential(0) : number.toFixed(size < 10 ? 2 : size < 1000 ? 1 : 0);
  return text.replace("-", "−");
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  return value < 0.01 && value > 0 ? "<0.01" : value.toFixed(value < 10 ? 2 : 1);
}

export function fateText(fate) {
  if (!fate) return "not known yet";
  const word = FATE_WORDS[fate.fate] ?? "";
  const text = fate.text ?? "";
  if (!text) return word;
  return Object.values(FATE_WORDS).some((known) => text.toLowerCase().startsWith(known)) ? text : `${word}: ${text}`;
}
