// Export every picture: SVG as wide as one or two columns of a journal, or PNG at 300 dots per inch, light in any theme.
import { withDensity } from "../arithmetic/binary.js";
import { ask } from "../shared/asking.js";
import { addressOf, button, el, plain, saveFile, svg } from "../shared/dom.js";
import { host, mount, onMount } from "../shared/mounting.js";
import { plotly } from "../shared/plotly.js";
import { css, paper } from "../shared/theme.js";
import { cellsOf, imageOf, svgFrom } from "./paper.js";

const DRAWN = new Set(["PlotlyChart", "Flow", "TokenRow", "AttentionLines", "HeadGrid", "SwitchBoard", "WordGrid", "Bars", "Ranking", "StripTable", "Architecture",
  "TextMap"]);
const DPI = 300;
const PATIENCE = 20_000; // ms
const PER_MM = 96 / 25.4; // px
const COLUMNS = { svg: 175, svg85: 85, png: 175 }; // mm: two columns of a journal, and one
const MOST_CELLS = 64; // rows and columns of a matrix whose cells are drawn as shapes
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g; // in XML

// The font is embedded, and measured with, so that it looks the same everywhere. A page without a server has none.
const LETTERS = "BERT Explorer Sans";
const FACES = { 400: "DejaVuSans.woff2", 700: "DejaVuSans-Bold.woff2" };
let letters = null; // [weight, data URL], once loaded

async function faceOf([weight, file]) {
  const blob = await (await fetch(`bx/fonts/${file}`)).blob();
  document.fonts.add(await new FontFace(LETTERS, await blob.arrayBuffer(), { weight }).load());
  return [weight, await addressOf(blob)];
}

async function learnLetters() {
  if (!host.page) return [];
  letters ??= Promise.all(Object.entries(FACES).map(faceOf)).catch(() => (letters = null, []));
  return letters;
}

function carryLetters(drawn, known) {
  const used = known.filter(([weight]) => weight === "400" || /font-weight(="|: ?)(bold|[5-9]00)/.test(drawn.outerHTML));
  const faces = used.map(([weight, address]) => `@font-face{font-family:'${LETTERS}';font-weight:${weight};src:url(${address})}`);
  drawn.append(svg("style", {}, faces.join("")));
  drawn.setAttribute("font-family", [`'${LETTERS}'`, drawn.getAttribute("font-family") || "sans-serif"].join(", "));
}

// Mount the component again, on white paper beside the page, while `take(root)` reads it.
async function onPaper(name, element, props, settings, mm, take) {
  const root = element.querySelector(".bx");
  const copy = el("div", { class: root.className, style: `width:${Math.round(mm * PER_MM)}px` });
  if (settings.height && root.classList.contains("bx-chart")) copy.style.height = `${settings.height}px`;
  const known = await learnLetters();
  const family = known.length ? `--font: '${LETTERS}', ${css("--font")}` : null;
  const sheet = el("div", { class: "bx-paper", "aria-hidden": "true", inert: "", style: family }, copy);
  document.documentElement.append(sheet); // not in the body, which may be dark
  try {
    return await paper(async () => {
      mount(name, sheet, () => {}, { value: plain(props.value) }, () => {}, { ...settings, with_window: false });
      return take(sheet);
    });
  } finally {
    sheet.remove();
  }
}

// The layout with the user's zoom and camera, without the line that marks what is chosen on the page.
function seenAs(layout, original) {
  const shapes = (layout.shapes ?? []).filter(({ name }) => name !== "chosen");
  const now = { ...layout, shapes, paper_bgcolor: "#fff" };
  for (const [name, axis] of Object.entries(original?.layout ?? {})) {
    if (/^[xy]axis\d*$/.test(name) && axis.range) now[name] = { ...now[name], range: [...axis.range], autorange: axis.autorange };
    if (/^scene\d*$/.test(name) && axis.camera) now[name] = { ...now[name], camera: axis.camera };
  }
  return now;
}

// Plotly draws the cells of a matrix as an image; replace it by a shape for each cell, in the colour that it has there.
async function toShapes(drawn, box, { _fullLayout: seen }) {
  const maps = box._fullData.filter((trace) => trace.visible === true && trace.type === "heatmap");
  const images = [...drawn.querySelectorAll(".heatmaplayer .hm image")];
  const whole = ["xaxis", "yaxis"].every((axis) => seen[axis]?.autorange !== false); // not zoomed: all cells are there
  if (images.length !== maps.length || !whole) return;
  for (const [i, image] of images.entries()) {
    const [height, width] = [maps[i].z.length, maps[i].z[0].length];
    if (Math.max(height, width) > MOST_CELLS) continue;
    const pixels = new Image();
    pixels.src = image.getAttribute("href") ?? image.getAttribute("xlink:href");
    await pixels.decode();
    const canvas = el("canvas", { width, height });
    const pen = Object.assign(canvas.getContext("2d"), { imageSmoothingEnabled: false });
    pen.drawImage(pixels, 0, 0, width, height);
    const [left, top, wide, high] = ["x", "y", "width", "height"].map((name) => Number(image.getAttribute(name) ?? 0));
    image.replaceWith(cellsOf(canvas, { left, top, width: wide, height: high }));
  }
}

let made = null; // how the pictures of this page were made, where the page itself says so

/** Say how the pictures of this page were made: it is written into those that are saved. */
export const saveWith = (provenance) => (made = provenance);

// How it was made: what the file says, or the server.
async function provenance() {
  const query = host.page?.query();
  return made ?? (query ? (await ask(host.page.file("view.about.json", query)).catch(() => null))?.provenance : null);
}

async function ofChart(sheet, about, original) {
  const box = sheet.querySelector(".bx-chart");
  const Plotly = await plotly();
  for (const end = performance.now() + PATIENCE; !box.dataset.drawn && performance.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 20));
  const { width, height } = box._fullLayout;
  const address = await Plotly.toImage({ data: box.data, layout: seenAs(box.layout, original) }, { format: "svg", width, height });
  const drawn = new DOMParser().parseFromString(decodeURIComponent(address.slice(address.indexOf(",") + 1)), "image/svg+xml").documentElement;
  await toShapes(drawn, box, original ?? box);
  Plotly.purge(box);
  drawn.prepend(svg("title", {}, about.title), svg("desc", {}, about.about));
  return drawn;
}

// The picture as an SVG, `mm` wide, whatever it needs for its own.
async function drawingOf(name, element, props, settings, mm) {
  const about = { title: settings.label || named(element), about: described(element) };
  const drawn = await onPaper(name, element, props, settings, mm, (sheet) =>
    name === "PlotlyChart" ? ofChart(sheet, about, element.querySelector(".bx-chart")) : svgFrom(sheet.querySelector(".bx"), about));
  const known = await learnLetters();
  if (known.length) carryLetters(drawn, known);
  const [width, height] = ["width", "height"].map((name) => Number(drawn.getAttribute(name)));
  if (!drawn.getAttribute("viewBox")) drawn.setAttribute("viewBox", `0 0 ${width} ${height}`);
  drawn.setAttribute("width", `${mm}mm`);
  drawn.setAttribute("height", `${((mm * height) / width).toFixed(2)}mm`);
  return drawn;
}

const named = (element) => (element.closest("[data-part]")?.dataset.part ?? ownId(element) ?? "picture").replace(/[^\w-]+/g, "-");
const described = (element) => (element.querySelector("[role=img]") ?? element.querySelector(".bx"))?.getAttribute("aria-label") ?? "";

// ---- As pixels.

async function pngOf(written) {
  const image = await imageOf(written);
  const canvas = el("canvas", { width: Math.round((image.width * DPI) / 96), height: Math.round((image.height * DPI) / 96) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return new Blob([withDensity(new Uint8Array(await blob.arrayBuffer()), DPI)], { type: "image/png" });
}

// ---- As files.

// Save the picture, which says how it was made.
async function save(name, element, props, settings, format) {
  const drawn = await drawingOf(name, element, props, settings, COLUMNS[format]);
  const made = await provenance();
  if (made) drawn.prepend(svg("metadata", {}, JSON.stringify(made)));
  const text = new XMLSerializer().serializeToString(drawn).replace(FORBIDDEN, "");
  const blob = format === "png" ? await pngOf(text) : new Blob([text], { type: "image/svg+xml" });
  const filename = (settings.label || named(element)).toLowerCase().replace(/[^a-z0-9]+/g, "-");
  saveFile(blob, `${filename}.${format.slice(0, 3)}`);
}

const ownId = (element) => element.closest("[id]:not([id^=html-])")?.id; // Gradio has ids of its own inside ours

// The part whose numbers the server can compute; the user's own trainings are in no link.
function partOf(element) {
  const part = ownId(element);
  return host.page && part && !part.startsWith("fine-tune-") ? part : null;
}

const mounted = new Set(); // pictures that can be saved

/** The pictures that are on the screen, from top to bottom: {label, save(format)}, and the `part` whose numbers the server has. */
export function pictures() {
  for (const one of mounted) if (!one.element.isConnected) mounted.delete(one);
  const seen = [...mounted].filter(({ element, props }) => element.checkVisibility({ visibilityProperty: true }) && props.value);
  const below = (one, other) => one.element.getBoundingClientRect().top - other.element.getBoundingClientRect().top;
  return seen.sort(below).map(({ name, element, props, settings }) => ({
    label: settings.label || named(element).replace(/^[\w-]*-(?=\w+$)/, ""),
    part: partOf(element),
    save: (format) => save(name, element, props, settings, format),
  }));
}

// A discreet button on a component, added when it is pointed at or focused: to the dialog of files, or in a file to an SVG.
function offer(name, element, props, settings) {
  if (!DRAWN.has(name) || settings.with_window || element.closest(".bx-paper")) return;
  mounted.add({ name, element, props, settings });
  element.classList.add("bx-saved");
  const way = button("⤓", () => (host.page ? host.page.take() : save(name, element, props, settings, "svg")), { class: "bx-save", "aria-label": "Save this picture", title: "Save this picture" });
  for (const kind of ["click", "dblclick", "keydown"]) way.addEventListener(kind, (event) => event.stopPropagation());
  const come = () => way.isConnected || element.append(way); // moved by its own focus, it would miss the click
  for (const kind of ["pointerenter", "focusin"]) element.addEventListener(kind, come, { once: true });
}

onMount(offer);
