// Linked highlighting: a token or head that is pointed at is marked wherever else it is shown.
// A component names it by `data-token` (zero-based) and `data-head` ("layer.head", from 1); for charts, axis labels do.
import { decoded } from "../arithmetic/labels.js";
import * as shared from "./long_input.js";

const MARK = "bx-linked";
let shown = "";

const inPage = (selector) => document.querySelectorAll(`gradio-app ${selector}`);
const words = () => [...inPage("#strip .bx-token")].map((chip) => chip.textContent);

// The index of the input's token at which an axis starts; -1 if the axis shows something else.
function start(axis, tokens) {
  const labels = axis?._categories?.map(decoded);
  if (!labels?.length) return -1;
  const fits = (first) => labels.every((label, i) => label === tokens[first + i]);
  const known = [0, shared.seen("key")[0], shared.seen("query")[0]];
  return known.find(fits) ?? -1;
}

// The labels of a token on the axes of all charts.
function* labelsOf(token, tokens) {
  for (const chart of inPage(".bx-chart")) {
    for (const [name, axis] of Object.entries(chart._fullLayout ?? {})) {
      if (!/^[xy]axis\d*$/.test(name) || !chart.offsetParent) continue;
      const first = start(axis, tokens);
      if (first < 0) continue;
      for (const tick of chart.querySelectorAll(`.${name.replace("axis", "")}tick`)) {
        if (first + tick.__data__?.x === token) yield tick.querySelector("text");
      }
    }
  }
}

export function mark({ tokens = [], head = "" } = {}) {
  const key = `${tokens}|${head}`;
  if (key === shown) return;
  shown = key;
  for (const one of document.querySelectorAll(`.${MARK}`)) one.classList.remove(MARK);
  const read = tokens.length ? words() : [];
  for (const token of tokens) {
    for (const one of inPage(`[data-token="${token}"]`)) one.classList.add(MARK);
    for (const label of labelsOf(token, read)) label?.classList.add(MARK);
  }
  if (head) for (const one of inPage(`[data-head="${head}"]`)) one.classList.add(MARK);
}

// A head is pointed at, "" for none: beside which picture, how far down (px), and its button.
function head(name, beside = null, top = 0, owner = null) {
  document.dispatchEvent(new CustomEvent("bert:head", { detail: { head: name, beside, top, owner } }));
}

function over({ target }) {
  const one = target.closest?.("gradio-app :is([data-token], [data-head])");
  const owner = one?.dataset.head ? one : null;
  if (owner) head(owner.dataset.head, owner.parentElement.getBoundingClientRect(), owner.getBoundingClientRect().top, owner);
  else if (!target.closest?.(".bx-chart")) head("");
  if (one) mark(one.dataset.head ? { head: one.dataset.head } : { tokens: [Number(one.dataset.token)] });
  else if (!target.closest?.(".bx-chart")) mark();
}
document.addEventListener("pointerover", over, { passive: true });
document.addEventListener("focusin", over);

// The tokens of the row and column pointed at in a chart, or the head.
export function chart(box) {
  box.on("plotly_hover", ({ event, points: [{ xaxis, yaxis, x, y }] }) => {
    const isHead = xaxis?.title?.text === "head" && yaxis?.title?.text === "layer";
    if (isHead) head(`${y}.${x}`, box.getBoundingClientRect(), event.clientY);
    const read = words();
    const found = [[xaxis, x], [yaxis, y]].map(([axis, label]) => {
      const first = start(axis, read);
      return first < 0 ? -1 : first + axis._categories.indexOf(label);
    });
    mark({ tokens: [...new Set(found.filter((token) => token >= 0))] });
  });
  box.on("plotly_unhover", () => (mark(), head("")));
}

// Whether these are all tokens of the page's input.
export const isInput = (tokens) => String(tokens) === String(words());
