// The place within a picture that a lesson's text is about: a row, a cell or a ribbon, outlined for as long as it is pointed at.
import { el } from "../shared/dom.js";

/** @typedef {[kind: "row" | "cell" | "ribbon", ...numbers: number[]]} Spot tokens count from 0, all else from 1 */

let watching = null; // keeps the outline when the picture is drawn again
let band = null; // the outline of what is no element of its own

/** Point at nothing within any picture. */
export function unmark() {
  watching?.disconnect();
  watching = null;
  clear(document);
}

function clear(box) {
  for (const one of box.querySelectorAll("[data-spot]")) delete one.dataset.spot;
  band?.remove();
  band = null;
}

/**
 * Outline a spot.
 * @param {HTMLElement} box the element with the picture
 * @returns {Element | null} what is outlined, null if the picture has no such place
 */
export function markSpot(box, spot) {
  unmark();
  let waits = 0;
  const mine = new MutationObserver(() => {
    cancelAnimationFrame(waits);
    waits = requestAnimationFrame(() => watching === mine && outline());
  });
  watching = mine;
  const found = outline();
  if (found) scrollTo(found);
  return found;

  function outline() {
    mine.disconnect(); // not at our own change
    clear(box);
    const target = find(box, spot);
    if (target) target.dataset.spot = spot[0];
    box.dataset.pointed = target ? "within" : "yes"; // a picture that is still to come is pointed at as a whole
    mine.observe(box, { childList: true, subtree: true });
    return target;
  }
}

// What scrolls around the spot shows it, and what is wider than that from its beginning.
function scrollTo(target) {
  const scrolls = target.closest(".bx-strips, .virtual-table-viewport, .bx-flow-scroll");
  if (!scrolls) return;
  const [outer, inner] = [scrolls, target].map((one) => one.getBoundingClientRect());
  if (inner.width < outer.width) scrolls.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  if (inner.top < outer.top || inner.bottom > outer.bottom) scrolls.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
}

function find(box, spot) {
  const chart = box.querySelector(".js-plotly-plot");
  if (chart) return inChart(chart, spot);
  const flow = box.querySelector(".bx-flow-field");
  if (flow) return inFlow(box, flow, spot);
  return box.querySelector(".virtual-body") ? inFrame(box, spot) : inTable(box, spot);
}

// Gradio's tables place each row by itself; their `tbody` only measures the columns.
function inFrame(box, [, row, column]) {
  const cells = box.querySelectorAll(`.virtual-body [data-row="${row - 1}"]`);
  return (column == null ? cells[0]?.closest(".virtual-row") : cells[column - 1]) ?? null;
}

// A row of a table that stands for a token is found by the token, others are counted, as columns are.
function inTable(box, [, row, column]) {
  const rows = [...box.querySelectorAll("tbody tr")].filter((one) => one.getClientRects().length);
  const named = rows.some((one) => one.querySelector("th [data-token]"));
  const found = named ? rows.find((one) => one.querySelector(`th [data-token="${row}"]`)) : rows[row - 1];
  return (column == null ? found : found?.cells[column]) ?? null;
}

// A cell of a matrix is [row, column], by the numbers of its axes.
function inChart(chart, [kind, row, column]) {
  const { xaxis, yaxis } = chart._fullLayout ?? {};
  if (!xaxis) return null;
  const [left, right] = kind === "row" ? [xaxis._offset, xaxis._offset + xaxis._length] : edges(xaxis, column);
  const [top, bottom] = edges(yaxis, row);
  if (![left, right, top, bottom].every(Number.isFinite)) return null;
  return place(chart, left, top, right - left, bottom - top);
}

function edges(axis, number) {
  return [number - 0.5, number + 0.5].map((one) => axis._offset + axis.l2p(one)).sort((a, b) => a - b);
}

// A row is a token, a cell [token, hidden state], a ribbon [layer, query, key].
function inFlow(box, flow, [kind, ...numbers]) {
  const [token, state] = numbers;
  if (kind === "cell") return box.querySelector(`.bx-flow-box[data-token="${token}"][data-state="${state}"]`);
  const rowOf = (one) => Number(box.querySelector(`.bx-flow-label[data-token="${one}"]`)?.dataset.row ?? -1);
  if (kind === "ribbon") {
    const [layer, query, key] = numbers;
    return box.querySelector(`[data-route="${JSON.stringify([layer - 1, rowOf(query), rowOf(key)])}"]`);
  }
  const boxes = [...flow.querySelectorAll(`.bx-flow-box[data-token="${token}"]`)];
  if (!boxes.length) return null;
  const last = boxes.at(-1);
  return place(flow, 0, last.offsetTop - 2, last.offsetLeft + last.offsetWidth + 4, last.offsetHeight + 4);
}

function place(box, left, top, width, height) {
  band = el("div", { class: "bx-spot", style: `left:${left}px;top:${top}px;width:${width}px;height:${height}px` });
  box.append(band);
  return band;
}
