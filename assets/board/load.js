// Fetches Cytoscape once per page, from the app's static folder.

export function loadCytoscape() {
  if (globalThis.hopscopeCytoscape) return globalThis.hopscopeCytoscape;
  const own = [...document.scripts].map((script) => script.src).find((src) => /\/static\/js\/index\./.test(src));
  const base = own ? own.slice(0, own.indexOf("/static/js/") + 1) : document.baseURI;
  globalThis.hopscopeCytoscape = new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("app/static/cytoscape.min.js", base).href;
    script.onload = () => (globalThis.cytoscape ? resolve(globalThis.cytoscape) : reject(new Error("cytoscape")));
    script.onerror = () => reject(new Error("cytoscape"));
    document.head.append(script);
  });
  return globalThis.hopscopeCytoscape;
}
