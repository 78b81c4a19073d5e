// Draws the payload of its page: of a report, or of a case in an exported site. The board's modules come before it (html_report.py).

globalThis.hopscopeReport = (payload) => renderBoard(document.getElementById("board"), payload, { cytoscape: globalThis.cytoscape });
globalThis.hopscopeReport(JSON.parse(document.getElementById("payload").textContent));
