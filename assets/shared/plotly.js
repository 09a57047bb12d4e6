// Plotly, loaded for the first chart, or while nobody does anything: running it blocks the page for half a second.
import { el } from "./dom.js";

const REST = 3_000; // ms without a pointer or key until it is loaded for a chart that may come
let arrives = null;
let load = fromServer;
let touched = performance.now();
const touch = () => (touched = performance.now());
for (const kind of ["pointermove", "pointerdown", "keydown", "wheel"]) addEventListener(kind, touch, { capture: true, passive: true });

/** Resolves to Plotly. */
export const plotly = () => (arrives ??= load());

/** Where Plotly comes from; at first from the server. */
export const loadPlotlyBy = (how) => (load = how);

export function fromServer() {
  return new Promise((resolve, reject) => {
    const script = el("script", { src: document.getElementById("plotly-js").href });
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error("plotly.min.js could not be loaded")));
    document.head.append(script);
  });
}

/** Load it when the page has been at rest for a while, unless the person saves data. */
export function plotlyAtRest() {
  const rested = performance.now() - touched;
  if (arrives || navigator.connection?.saveData) return;
  if (rested < REST || document.hidden) setTimeout(plotlyAtRest, Math.max(REST - rested, 500));
  else window.requestIdleCallback?.(() => plotly());
}
