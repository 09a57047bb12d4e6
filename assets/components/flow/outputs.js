// The answers, at the right or below: bars that keep their word and glide to its new rank, and the strip of changes below them.
import { percent } from "../../arithmetic/labels.js";
import { arrange, el } from "../../shared/dom.js";
import { hueOf, px, yOf } from "./layout.js";

const CHANGES = 6; // chips; the rest is counted
const KEY = 84; // px of the key's height

// The place of what is at the right of the picture, unless all that is below it.
const beside = (size, top) => size.under ? "" : `left:${px(size.field - size.output + 18)};width:${px(size.output - 22)};top:${px(top)}`;

// The groups of bars, from the top: those that were sent, and what is read at the chosen place.
function groups({ value, target }) {
  const last = value.states - 1;
  const answers = value.answers.filter((one) => one.row !== target.row || target.state === last);
  if (!answers.some((one) => one.row === target.row)) {
    const words = value.words?.[target.state]?.[target.row];
    const when = target.state < last ? `read after ${target.state ? `layer ${target.state}` : "the embeddings"}` : `“${value.tokens[target.row]}”, read at the end`;
    if (words) answers.push({ row: target.row, title: when, bars: words.map(([word, p]) => [word, p, null]) });
  }
  return answers.sort((a, b) => a.row - b.row);
}

function barOf(old, [word, p, was], row, state) {
  const bar = old ?? el("button", { type: "button" }, el("i", {}), el("s", {}), el("span", {}, el("bdi", {}), el("em", {})));
  const [fill, ghost] = bar.children;
  [bar.dataset.row, bar.dataset.state, bar.dataset.word] = [row, state, word];
  const width = (share) => `${(100 * share).toFixed(2)}%`;
  fill.style.width = width(old || was == null ? p : was); // a new one comes from where it was, even if that was not among the first
  if (!old) requestAnimationFrame(() => (fill.style.width = width(p)));
  const same = was == null || percent(was) === percent(p);
  ghost.style.width = same ? "0" : width(was);
  ghost.hidden = same;
  bar.querySelector("bdi").textContent = word;
  bar.querySelector("em").textContent = ` ${percent(p)}${same ? "" : `, was ${percent(was)}`}`;
  return bar;
}

// Bars that change their rank glide there.
function glide(bars, from, still) {
  if (still) return;
  for (const bar of bars) {
    const moved = (from.get(bar.dataset.word) ?? bar.offsetTop + 30) - bar.offsetTop;
    if (Math.abs(moved) > 1 && from.size) bar.animate([{ transform: `translateY(${moved}px)`, opacity: from.has(bar.dataset.word) ? 1 : 0 }, { transform: "none", opacity: 1 }], { duration: 350, easing: "ease" });
  }
}

/** Draw the answers; pale at a stop of the story that does not show the last column. */
export function drawOutputs(flow, shown, still) {
  const { size, value, nodes, outputs } = flow;
  const all = groups(flow);
  const kept = new Map();
  let free = 4;
  const heights = all.map((one) => size.line + 3 + one.bars.length * size.line);
  const changes = value.changes?.length ? 30 + 26 * (Math.min(CHANGES, value.changes.length) + 1) : 0; // one puts all back
  const total = heights.reduce((sum, height) => sum + height + 10, changes);
  all.forEach((one, i) => {
    const key = kept.has(one.title) ? `${one.title} ${one.row}` : one.title;
    const group = outputs.get(key) ?? el("div", { class: "bx-flow-output", role: "group" });
    const rest = total - heights.slice(0, i).reduce((sum, height) => sum + height + 10, 0);
    const top = Math.max(free, Math.min(yOf(flow, one.row) - heights[i] / 2, size.seen - rest));
    free = top + heights[i] + 10;
    group.style.cssText = `${beside(size, top)};--hue:${hueOf(flow, one.row)}`;
    group.setAttribute("aria-label", one.title);
    group.classList.toggle("bx-later", shown < value.states - 1);
    const old = [...group.querySelectorAll("button")];
    const from = new Map(old.map((bar) => [bar.dataset.word, bar.offsetTop]));
    const bars = one.bars.map((bar) => barOf(old.find(({ dataset }) => dataset.word === bar[0]), bar, one.row, value.states - 1));
    const title = group.querySelector("h3") ?? el("h3", {});
    title.textContent = one.title;
    arrange(group, [...group.children], [title, ...bars]);
    kept.set(key, group);
    const place = size.under ? nodes.below : nodes.field;
    if (group.parentElement !== place) place.append(group);
    glide(bars, from, still);
  });
  for (const [key, group] of outputs) if (!kept.has(key)) group.remove();
  flow.outputs = kept;
  drawChanges(flow, free);
  drawKey(flow, free);
}

// How to read the picture, at the right below the answers where there is room.
function drawKey({ size, nodes, value }, top) {
  nodes.key ??= el("p", { class: "bx-flow-key" });
  if (size.under || value.changes?.length || top + KEY > size.seen) return nodes.key.remove();
  nodes.key.textContent = `A box: ${value.words ? "the word that BERT would say there" : "how far its layer turned the vector"}. A line: the share that a box takes from another.`;
  nodes.key.style.cssText = beside(size, size.seen - KEY);
  nodes.field.append(nodes.key);
}

// The changes of the run as chips; a click puts one back.
function drawChanges(flow, top) {
  const { value, nodes, size } = flow;
  const list = flow.alone ? [] : value.changes ?? [];
  nodes.changes?.remove();
  if (!list.length) return;
  const chips = list.slice(0, CHANGES).map(({ label, undo }) =>
    el("button", { type: "button", class: "bx-flow-change", "data-act": JSON.stringify(undo), "aria-label": `Put back: ${label}` }, el("bdi", {}, label), el("span", { "aria-hidden": "true" }, "✕")));
  const all = list.length > 1 ? el("button", { type: "button", class: "bx-flow-change", "data-act": '{"back":"all"}' }, `put all ${list.length} back`) : null;
  nodes.changes = el("div", { class: "bx-flow-changes", role: "group", "aria-label": "changes" }, el("h3", {}, "Changed", el("small", {}, "U undoes the last")), ...chips, all);
  nodes.changes.style.cssText = beside(size, top + 4);
  (size.under ? nodes.below : nodes.field).append(nodes.changes);
}
