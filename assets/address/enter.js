// Enter in the question box asks again where its text is as it was: Streamlit sends a text that changed, and nothing else.

const changed = new WeakSet(); // boxes whose text was changed since it was sent
let label = "";
let listening = false;

export default function enter({ data }) {
  label = data?.label ?? "";
  if (listening) return;
  listening = true;
  document.addEventListener("input", ({ target }) => isBox(target) && changed.add(target), true);
  document.addEventListener("focusout", ({ target }) => changed.delete(target), true); // which sends it
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || !isBox(event.target)) return;
    if (changed.delete(event.target)) return;
    document.querySelector(".st-key-ask button")?.click();
  }, true);
}

function isBox(target) {
  return target instanceof HTMLInputElement && target.getAttribute("aria-label") === label;
}
