// Pointing at an element of the page, once it is there and drawn; what would give an answer away is covered.
import { el } from "../shared/dom.js";

const PATIENCE = 20_000; // ms of an idle page after which we stop waiting for the element to point at
const PIECES = "tokens-pieces-cards"; // the tokens once more, with their numbers
const ABOVE = 14; // px between the bar and what is pointed at
let turn = 0; // counts the pointings: a newer one ends the wait of an older one

/** The id of what a lesson covers, "view" for everything in the open tab, "" for nothing; and whether the tokens above it are, too. */
export const covered = { id: "", row: false };

/** The element that a lesson's id names. */
export const named = (id) => id === "view" ? [...document.querySelectorAll("#tabs [role=tabpanel] .view")].find((one) => one.offsetParent) : document.getElementById(id);

/**
 * Cover this and nothing else, from now on, even before it exists; assets/answers.js does it. `about` is the id of what is asked about:
 * who is to count pieces must not see them in the row.
 */
export function cover(id, about = "") {
  Object.assign(covered, { id, row: id === "view" && about === PIECES });
  document.dispatchEvent(new Event("bert:covered"));
}

/**
 * Point at the element `id`, null for none, and at nothing else. `under` is the id of what to cover, "" for nothing; `spot` what is
 * outlined within the element, "row", "cell" or "ribbon" and its numbers: tokens count from 0, all else from 1. Empty for all of it.
 */
export async function point(id, under = "", spot = []) {
  for (const one of document.querySelectorAll("[data-pointed]")) delete one.dataset.pointed;
  unmark();
  cover(under, id ?? "");
  document.dispatchEvent(new CustomEvent("bert:moved")); // phones that follow must not see it either
  const mine = (turn += 1);
  if (!id && !under) return;
  let until = Date.now() + PATIENCE;
  const wait = () => new Promise((go) => setTimeout(go, 120));
  let element = null;
  for (await wait(); Date.now() < until && turn === mine; await wait()) {
    const lid = under ? named(under) : null;
    element = document.getElementById(id);
    if (!element || lid?.contains(element)) element = lid; // what covers it is seen
    if (document.body.dataset.busy) until = Date.now() + PATIENCE; // a head may have to be trained first
    else if (element?.getClientRects().length) break;
  }
  if (turn !== mine || !element) return;
  element.dataset.pointed = "yes";
  if (spot.length && !under) markSpot(element, spot);
  await reveal(mine, element);
  let there = element.getClientRects().length > 0; // else it was that of a tab which has gone since
  for (; there && turn === mine; there = element.isConnected) await wait(); // the page may build it again
  if (turn === mine) point(id, under, spot);
}

// Scroll to the element, or to what is marked within it where it is taller than the room between the bar and a sheet; and again
// while the page around it still grows, unless the user scrolls. The room is known only here, so it is not left to a scroll-margin.
async function reveal(mine, element) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const sheet = matchMedia("(max-width: 999px)").matches;
  const theirs = new AbortController();
  for (const kind of ["wheel", "touchmove", "keydown"]) addEventListener(kind, () => theirs.abort(), { signal: theirs.signal });
  for (let tries = 0; tries < 8 && turn === mine && !theirs.signal.aborted && element.getClientRects().length; tries += 1) {
    const top = document.getElementById("bar")?.getBoundingClientRect().bottom ?? 0; // the bar covers what lies under it
    const panel = sheet ? document.getElementById("lessons") : null; // a sheet at the bottom of the screen
    const bottom = panel?.getBoundingClientRect().top ?? innerHeight;
    const whole = element.getBoundingClientRect();
    const frame = whole.height > bottom - top ? (element.querySelector("[data-spot]")?.getBoundingClientRect() ?? whole) : whole;
    if (!element.closest("#bar") && (frame.top < top || frame.bottom > bottom)) {
      const above = sheet || frame.height > 0.7 * bottom ? ABOVE : (bottom - top - frame.height) / 2;
      scrollBy({ top: frame.top - top - above, behavior: calm ? "auto" : "smooth" });
    }
    await new Promise((go) => setTimeout(go, 700));
  }
  theirs.abort();
}

// ---- The place within a picture that a lesson's text is about, outlined for as long as it is pointed at.

let watching = null; // keeps the outline when the picture is drawn again
let band = null; // the outline of what is no element of its own

// Point at nothing within any picture.
function unmark() {
  watching?.disconnect();
  watching = null;
  clear();
}

function clear() {
  for (const one of document.querySelectorAll("[data-spot]")) delete one.dataset.spot;
  band?.remove();
}

// Outline a spot in the picture of `box`, if it has such a place.
function markSpot(box, spot) {
  unmark();
  let waits = 0;
  const mine = new MutationObserver(() => {
    cancelAnimationFrame(waits);
    waits = requestAnimationFrame(() => watching === mine && outline());
  });
  watching = mine;
  const found = outline();
  if (found) scrollTo(found);

  function outline() {
    mine.disconnect(); // not at our own change
    clear();
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
  const [, row, column] = spot;
  const cells = box.querySelectorAll(`.virtual-body [data-row="${row - 1}"]`); // Gradio's tables place each row by itself; their `tbody` only measures the columns
  return box.querySelector(".virtual-body") ? (column == null ? cells[0]?.closest(".virtual-row") : cells[column - 1]) ?? null : inTable(box, row, column);
}

// A row of a table that stands for a token is found by the token, others are counted, as columns are.
function inTable(box, row, column) {
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

const edges = (axis, number) => [number - 0.5, number + 0.5].map((one) => axis._offset + axis.l2p(one)).sort((a, b) => a - b);

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
