// What Streamlit is sent of a component in every run: where its code is. The browser gets that once, and draws what was sent last.

const AGAIN = [0, 500, 2000]; // ms before each try

async function code() {
  const own = [...document.scripts].map((script) => script.src).find((src) => /\/static\/js\/index\./.test(src));
  const base = own ? own.slice(0, own.indexOf("/static/js/") + 1) : document.baseURI;
  for (const [number, wait] of AGAIN.entries()) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      return await import(new URL(ADDRESS + (number ? `?${number}` : ""), base).href);
    } catch (error) {
      if (number === AGAIN.length - 1) throw error;
    }
  }
}

function said(place, text) {
  const words = document.createElement("p");
  words.textContent = text;
  place.append(words);
}

export default function mount(component) {
  const place = component.parentElement;
  const mounted = (place.hopscopeMounted ??= {});
  mounted.latest = component;
  if (mounted.draw) mounted.leave = mounted.draw(component);
  mounted.loading ??= code().then(
    (module) => {
      if (mounted.left) return;
      const style = document.createElement("style");
      style.textContent = module.hopscopeStyle;
      place.append(style);
      mounted.draw = module.default;
      mounted.leave = mounted.draw(mounted.latest);
    },
    () => said(place, FAILED),
  );
  return () => {
    mounted.left = true;
    mounted.leave?.();
    delete place.hopscopeMounted;
  };
}
