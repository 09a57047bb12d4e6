// What a tab opens with, painted while Gradio is still loading: its question, finding and pictures, drawn by the components
// in the places they will have on the page. The paint is removed when the page shows the tab itself.
import { hidden } from "./answers.js";
import { prose } from "./file/prose.js";
import { drawingState } from "./page/drawing.js";
import { el } from "./shared/dom.js";
import { mount } from "./shared/mounting.js";

const ADDRESS = "bx/painted.json";
const PATIENCE = 8_000; // ms after which the page below the paint is shown as it is
const MOUNTING = 1_000; // ms for the browser to mount what the server answered
const LONGEST = 8_000; // characters of a query
const asked = new Map(); // promises of answers, by address

export const paint = {
  tab: "", // the id of the painted tab,
  box: null, // its box,
  wanted: "", // and the address last asked for
};

/**
 * What a tab opens with, for the texts and token of the painted page.
 * @param {string} tab
 * @param {{a?: string, b?: string, token?: number}} [chosen]
 * @returns {[string, Promise<any>]} the address, and the answer of the server: null if it refuses
 */
export function ask(tab, chosen = {}) {
  const query = new URLSearchParams({ tab, ...chosen, ...(hidden() && { answers: "hidden" }) });
  const address = `${ADDRESS}?${query}`;
  if (address.length > LONGEST) return [address, Promise.resolve(null)];
  if (!asked.has(address)) {
    const told = fetch(address, { priority: "high" }).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
    asked.set(address, told);
  }
  return [address, asked.get(address)];
}

/** Paint a tab at the end of `page`, in place of the one before; of several requests the last counts. */
export async function show(page, tab, chosen) {
  const [address, coming] = ask(tab, chosen);
  if (tab !== paint.tab) close();
  paint.tab = tab;
  paint.wanted = address;
  const told = await coming;
  if (!told || paint.wanted !== address || !page.isConnected) return;
  const box = el("div", { class: "bx-painted", "aria-live": "polite" }, el("style", {}, style()));
  paint.box?.remove();
  paint.box = box;
  page.append(box);
  const inside = el("div", { class: "gradio-container", role: "tabpanel", "aria-label": told.label });
  box.append(inside); // before drawing: pictures measure their width
  fill(inside, told.inside ?? []);
}

/** Remove the paint. */
export function close() {
  paint.box?.remove();
  paint.box = null;
  paint.tab = paint.wanted = "";
}

// The page's own style, which Gradio adds later, with element ids turned into those of the paint.
function style() {
  const own = window.gradio_config.css ?? "";
  return `.bx-painted { ${own.replace(/#([a-z][\w-]*)(?=[^{}]*\{)/g, '[data-of="$1"]')} }`;
}

// ---- The boxes. What a person typed is inserted as text only.

function fill(into, nodes) {
  for (const node of nodes) {
    const one = make(node);
    one.classList.add(...[node.classes].flat().filter(Boolean));
    if (node.of) one.dataset.of = node.of;
    if (node.scale != null) one.style.flexGrow = node.scale;
    if (node.scale) one.style.flexBasis = "0%";
    if (node.min_width) one.style.minWidth = `min(${node.min_width}px, 100%)`;
    if (one.matches(".view")) one.dataset.seen = "yes"; // shows no placeholders
    into.append(one);
    if (node.component) drawIn(one, node);
    else if (node.inside && node.kind !== "accordion") fill(one, node.inside);
  }
}

function make(node) {
  if (node.kind === "row" || node.kind === "column" || node.kind === "form") return el("div", { class: node.kind });
  if (node.component) return el("div", { class: "block" });
  const maker = CONTROLS[node.kind];
  return maker ? maker(node) : field(node);
}

function drawIn(block, node) {
  const element = el("div", { class: [node.classes].flat().join(" ") });
  element.innerHTML = node.skeleton; // a constant of ours: values are drawn into it as text
  block.append(el("div", { class: "html-container" }, element));
  mount(node.component, element, () => {}, { value: node.value }, () => {}, node.options);
}

const labelOf = ({ label, show_label }) => (label && show_label !== false ? el("span", { class: "bx-as-label" }, label) : null);

// A control, to look at until the page is there; `more` is the class of its content.
function control(node, more, ...inside) {
  const info = node.info ? el("span", { class: "bx-as-info" }, node.info) : null;
  const class_ = node.container === false ? "block" : "block bx-as-roomy";
  return el("div", { class: class_ }, labelOf(node), info, el("div", { class: more }, ...inside));
}

function field(node) {
  const { lines = 1, max_lines: most = 20, choices = [], value, placeholder = "" } = node;
  const name = (one) => choices.find(([, each]) => String(each) === String(one))?.[0] ?? one;
  const kind = node.kind === "dropdown" ? "bx-as-menu" : `bx-as-field${most > 1 ? " bx-as-lines" : ""}`;
  const text = [value ?? []].flat().map(name).join(", ");
  const box = control(node, `${kind}${text ? "" : " bx-as-hint"}`, text || placeholder);
  box.style.setProperty("--lines", lines);
  box.style.setProperty("--most", Math.max(lines, most));
  return box;
}

function choicesOf(node, type) {
  const chosen = [node.value].flat().map(String);
  const one = ([text, value]) => el("label", { class: chosen.includes(String(value)) ? "selected" : null },
    el("input", { type, name: `painted-${node.of}`, checked: chosen.includes(String(value)) ? "" : null }), el("span", {}, text));
  const set = el("fieldset", { class: node.container === false ? "block" : "block bx-as-roomy", "aria-label": node.label });
  set.append(...[labelOf(node), el("div", { class: "wrap" }, ...(node.choices ?? []).map(one))].filter(Boolean));
  return set;
}

const CONTROLS = {
  markdown({ value }) {
    const heading = /^(#+)\s+([^\n]*)$/.exec(value?.trim() ?? "");
    const nodes = heading ? [el(`h${heading[1].length}`, {}, heading[2])] : prose(value ?? "");
    return el("div", { class: "block" }, el("div", { class: "prose" }, ...nodes));
  },
  button: ({ value, size, variant }) => el("button", { type: "button", class: `${size ?? "lg"} ${variant ?? "secondary"}` }, value),
  uploadbutton: ({ label }) => el("button", { type: "button", class: "sm secondary" }, label),
  accordion: ({ label }) =>
    el("div", { class: "block gr-accordion" }, el("button", { type: "button", class: "label-wrap" }, label)),
  radio(node) {
    return choicesOf(node, "radio");
  },
  checkbox(node) {
    return choicesOf({ ...node, show_label: false, value: node.value ? [node.label] : [], choices: [[node.label, node.label]] }, "checkbox");
  },
  slider(node) {
    const range = el("input", { type: "range", min: node.minimum, max: node.maximum, value: node.value, tabindex: "-1" });
    const head = el("div", { class: "bx-as-head" }, labelOf(node), el("span", { class: "bx-as-number" }, String(node.value ?? "")));
    return control({ ...node, show_label: false }, "bx-as-slider", head, el("div", {}, String(node.minimum), range, String(node.maximum)));
  },
  dataframe({ headers, value, label, column_widths: widths }) {
    const row = (tag, cells) => el("tr", {}, ...cells.map((cell, i) => el(tag, { style: widths?.[i] ? `width:${widths[i]}` : null }, cell == null ? "" : String(cell))));
    const rows = (value?.data ?? []).map((cells) => row("td", cells));
    const table = el("table", {}, el("thead", {}, row("th", value?.headers ?? headers ?? [])), el("tbody", {}, ...rows));
    return el("div", { class: "block" }, el("div", { class: "bx-as-title" }, label ?? ""), el("div", { class: "bx-as-frame" }, table));
  },
};

// ---- Gradio has loaded.

/** Remove `page`: at once, or when the painted tab stands below it. `before` is called just before. */
export function leave(page, before = () => {}) {
  const { tab, box } = paint;
  paint.wanted = "";
  if (!box) return page.remove();
  const focused = page.contains(document.activeElement);
  page.classList.add("bx-leaving");
  page.inert = true; // clicks go to the page from now on
  document.documentElement.dataset.painted = "yes";
  const keepFocus = () => { // the tab may be hidden still, or be redrawn; a section with a single tab has the focus itself
    if (!focused || used || document.activeElement !== document.body) return;
    const ways = document.querySelectorAll(`#tab-${tab}-button, gradio-app #sections [aria-selected=true]`);
    [...ways].findLast((one) => one.checkVisibility())?.focus({ preventScroll: true });
  };
  const start = performance.now();
  let answered = 0; // when the server answered: the components come a moment later
  let used = false;
  const touch = () => (used = true);
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, touch, { capture: true, once: true });
  const look = () => {
    const now = performance.now();
    keepFocus();
    if (isAnswered(tab)) answered ||= now;
    const stands = answered && (isMounted(box) || now - answered > MOUNTING);
    if (!used && !stands && now - start < PATIENCE) return requestAnimationFrame(look);
    before();
    requestAnimationFrame(() => setTimeout(() => { // after the layout of what came
      delete document.documentElement.dataset.painted;
      page.remove();
      keepFocus();
    }));
  };
  requestAnimationFrame(look);
}

function isAnswered(tab) {
  const question = document.querySelector(`gradio-app [id="${tab}-question"]`);
  return question?.checkVisibility() && !drawingState.drawing && !document.querySelector(`#tab-${tab} .view[data-waiting]`);
}

// Whether all that is painted is there in the page, and drawn.
function isMounted(box) {
  return [...box.querySelectorAll("[data-of]")].filter((one) => one.offsetHeight).every((one) => {
    const own = document.querySelector(`gradio-app [id="${one.dataset.of}"]`);
    return own && (!one.querySelector(".bx:not(:empty)") || own.querySelector(".bx:not(:empty)"));
  });
}
