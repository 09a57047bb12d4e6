// What all components share: mounting, the colour ramp, the theme, and building DOM from plain text.
window.BertExplorer = (() => {
  "use strict";
  const mounts = new Map();

  // A component's file calls define(name, mount). Gradio calls mount(name, ...) for every instance; it returns the function
  // that draws a value.
  const define = (name, mount) => mounts.set(name, mount);

  function mount(name, element, trigger, props, watch, settings) {
    const draw = mounts.get(name)({ element, trigger, props, settings });
    watch("value", draw);
    draw();
    BertExplorer.picture?.offer(name, element, props, settings);
  }

  // ---- DOM. Texts become text nodes and attributes, never markup.

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) if (value != null) node.setAttribute(name, value);
    node.append(...children.filter((child) => child != null));
    return node;
  }

  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  // The bare value: Gradio wraps values in proxies that are slow to read item by item.
  const plain = (value) => (value && typeof value === "object" ? JSON.parse(JSON.stringify(value)) : value);

  const bytes = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

  // Let the Tab key reach one of the items only; arrow keys reach the rest (roving tabindex).
  function rove(items, index) {
    items.forEach((item, i) => (item.tabIndex = i === index ? 0 : -1));
  }

  // Scroll `box`, and nothing around it, as little as needed to show `item`.
  function reveal(box, item) {
    const outer = box.getBoundingClientRect();
    const inner = item.getBoundingClientRect();
    if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top + 4;
    else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 4;
    if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left + 4;
    else if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right + 4;
  }

  // A choice takes effect in the browser at once, and the server confirms it later. An answer that was under way must not undo
  // it: for a moment, the choice made here overrides incoming values.
  function choice(patience = 1500) {
    let chosen = null;
    let until = 0;
    let timer = 0;
    return {
      set(value) {
        chosen = value;
        until = performance.now() + patience;
      },
      settle(incoming, again = () => {}) { // `again` is called when the incoming value may count after all
        const left = until - performance.now();
        if (left > 0 && String(incoming) !== String(chosen)) {
          clearTimeout(timer);
          timer = setTimeout(again, left + 1);
          return chosen;
        }
        if (String(incoming) === String(chosen)) until = 0; // confirmed: later values are newer
        chosen = incoming;
        return incoming;
      },
    };
  }

  // ---- Layers x heads: a button for each, row by row.

  const FAR = 1e6; // cells: up to the edge
  const MOVES = {
    ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
    Home: [0, -FAR], End: [0, FAR], PageUp: [-FAR, 0], PageDown: [FAR, 0],
  };
  const clamp = (number, most) => Math.max(0, Math.min(most, number));

  // The move of a key as [rows, columns]; undefined with a modifier key, which is the browser's.
  const moveOf = (event) => (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey ? undefined : MOVES[event.key]);

  // The index that a key moves to along one line of items, where a page is `page` items; -1 if the key is no move.
  function along(event, index, count, page = 10) {
    const steps = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, Home: -FAR, End: FAR, PageUp: -page, PageDown: page };
    return index >= 0 && moveOf(event) ? clamp(index + steps[event.key], count - 1) : -1;
  }

  // Fill `box` with the heads' buttons and the numbers around them. Returns the buttons. `inside()` makes a button's content;
  // `row(layer)` makes what is shown before a row, in place of its number.
  function placeHeads(box, { layers, heads }, { inside = () => [], row = null } = {}) {
    const quiet = (tag, more, text) => el(tag, { "aria-hidden": "true", ...more }, text);
    const column = (head) => `grid-column:${head + 3}`;
    const buttons = Array.from({ length: layers * heads }, (_, i) =>
      el("button", { type: "button", style: `grid-row:${Math.floor(i / heads) + 3};${column(i % heads)}`, "data-head": `${Math.floor(i / heads) + 1}.${i % heads + 1}` }, ...inside()));
    const across = Array.from({ length: heads }, (_, h) =>
      quiet("span", { style: `grid-row:2;${column(h)}` }, String(h + 1)));
    const down = Array.from({ length: layers }, (_, l) => {
      const number = row?.(l) ?? quiet("span", {}, String(l + 1));
      number.setAttribute("style", `grid-row:${l + 3};grid-column:2`);
      return number;
    });
    const names = [quiet("em", { class: "bx-across" }, "head"), quiet("em", { class: "bx-down" }, "layer")];
    box.style.setProperty("--heads", heads);
    box.style.setProperty("--layers", layers);
    box.replaceChildren(...names, ...across, ...down, ...buttons);
    return buttons;
  }

  // Keyboard moves in `grid()`, { columns, buttons } row by row, with the focus: arrows to the next button, Home and End along
  // the row, Page up and Page down along the column. Calls `moved(index)`.
  function gridKeys(box, grid, moved) {
    box.addEventListener("keydown", (event) => {
      const { columns, buttons } = grid();
      const move = moveOf(event);
      const index = buttons.indexOf(event.target.closest("button"));
      if (!move || index < 0) return;
      event.preventDefault();
      const row = clamp(Math.floor(index / columns) + move[0], buttons.length / columns - 1);
      const next = row * columns + clamp((index % columns) + move[1], columns - 1);
      if (next === index) return;
      buttons[next].focus();
      moved(next);
    });
  }

  // ---- The theme.

  const listeners = new Set();
  let wasDark = null;
  let onPaper = 0; // number of pictures being drawn for export, which are light in any theme
  const isDark = () => !onPaper && document.body.classList.contains("dark");

  // Draw as on white paper until the promise of `draw` is settled.
  async function paper(draw) {
    onPaper += 1;
    try {
      return await draw();
    } finally {
      onPaper -= 1;
    }
  }

  // Call fn after each switch between light and dark, as long as `owner` is on the page.
  function onTheme(fn, owner) {
    if (wasDark === null) {
      wasDark = isDark();
      new MutationObserver(() => {
        if (isDark() === wasDark) return;
        wasDark = isDark();
        for (const listener of listeners) {
          if (listener.owner.isConnected) listener.fn();
          else listeners.delete(listener);
        }
      }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
    }
    listeners.add({ fn, owner });
  }

  const css = (name) => getComputedStyle(onPaper ? document.documentElement : document.body).getPropertyValue(name).trim(); // the root element is always light

  // ---- The colour ramp: from the page's background over blue to the end of the scale, in perceptually even steps.

  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  function rgb(colour) {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data];
  }

  function background() {
    if (onPaper) return [255, 255, 255];
    for (const node of [document.querySelector(".gradio-container"), document.querySelector("gradio-app"), document.body, document.documentElement]) {
      const colour = node && rgb(getComputedStyle(node).backgroundColor);
      if (colour && colour[3] === 255) return colour.slice(0, 3);
    }
    return isDark() ? [11, 15, 25] : [255, 255, 255];
  }

  // OKLab (Björn Ottosson, 2020): equal distances look about equally large.
  function toLab(colour) {
    const [r, g, b] = colour.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  }

  function fromLab([L, a, b]) {
    const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const linear = [
      4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
      -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
      -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ];
    const gamma = (v) => (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055);
    return linear.map((v) => Math.round(255 * Math.min(1, Math.max(0, gamma(Math.max(0, v))))));
  }

  const polar = (L, chroma, hue) => [L, chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const ENDS = {
    light: { middle: polar(0.62, 0.25, 252), end: polar(0.19, 0.06, 268) },
    dark: { middle: polar(0.58, 0.25, 258), end: polar(0.97, 0.025, 220) },
  };

  // 256 colours along a curve through OKLab, evenly spaced by its length.
  function buildTable(start, { middle, end }) {
    const steps = 1024;
    const curve = Array.from({ length: steps + 1 }, (_, i) => {
      const t = i / steps;
      return start.map((v, k) => (1 - t) ** 2 * v + 2 * t * (1 - t) * middle[k] + t ** 2 * end[k]);
    });
    const along = [0];
    for (let i = 1; i <= steps; i++) along.push(along[i - 1] + Math.hypot(...curve[i].map((v, k) => v - curve[i - 1][k])));
    let i = 0;
    return Array.from({ length: 256 }, (_, step) => {
      const target = (along[steps] * step) / 255;
      while (i < steps && along[i] < target) i++;
      return fromLab(curve[i]);
    });
  }

  let table = [];
  let tableKey = "";

  // The ramp as 256 colours [r, g, b]; the first is the page's background.
  function rampTable() {
    const start = background();
    const key = `${isDark()} ${start}`;
    if (key !== tableKey) {
      table = buildTable(toLab(start), isDark() ? ENDS.dark : ENDS.light);
      table[0] = start;
      tableKey = key;
    }
    return table;
  }

  const ramp = (t) => rampTable()[Math.round(255 * Math.min(1, Math.max(0, t)))];

  // The ramp as a Plotly colorscale.
  const rampStops = () => Array.from({ length: 33 }, (_, i) => [i / 32, `rgb(${ramp(i / 32).join(",")})`]);

  // ---- Plotly, loaded for the first chart, or while nobody does anything: running it blocks the page for half a second. Never
  // before the page's pending calls.

  const REST = 3_000; // ms without a pointer or key until it is loaded for a chart that may come
  let plotlyArrives = null;
  let touched = performance.now();
  for (const kind of ["pointermove", "pointerdown", "keydown", "wheel"]) {
    addEventListener(kind, () => (touched = performance.now()), { capture: true, passive: true });
  }

  function plotly() {
    plotlyArrives ??= (window.BertPage?.quiet() ?? Promise.resolve()).then(() => new Promise((resolve, reject) => {
      const script = el("script", { src: document.getElementById("plotly-js").href });
      script.addEventListener("load", () => resolve(window.Plotly));
      script.addEventListener("error", () => reject(new Error("plotly.min.js could not be loaded")));
      document.head.append(script);
    }));
    return plotlyArrives;
  }

  function plotlyAtRest() {
    const rested = performance.now() - touched;
    if (plotlyArrives || navigator.connection?.saveData) return;
    if (rested < REST || document.hidden) setTimeout(plotlyAtRest, Math.max(REST - rested, 500));
    else window.requestIdleCallback?.(() => plotly());
  }

  return {
    define, mount, el, svg, plain, bytes, rove, reveal, choice, placeHeads, gridKeys, moveOf, along,
    isDark, onTheme, paper, css, rgb, background, ramp, rampTable, rampStops, plotly, plotlyAtRest,
  };
})();
