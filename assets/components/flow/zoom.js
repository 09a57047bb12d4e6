// The stage of the zoom: the heads of a layer as small pictures, one head at full size, and one weight as numbers. A head's small
// picture is its large one: only its place and the thickness of its lines change.
import { percent, signedPercent } from "../../arithmetic/labels.js";
import { el, rove, svg } from "../../shared/dom.js";
import { senderName } from "./cards.js";
import { act } from "./drawing.js";
import { hueOf, level, putAt, px, stageOf, xOf, yOf } from "./layout.js";

const CAPTION = 36; // px of a small picture's two lines
const TITLE = 22; // px of the titles of both parts
const LEAST = 0.0005; // smaller weights have no number of their own
const GLIDE = 380; // ms

const name = ({ value }, row) => `“${value.tokens[row]}”`;
const number = (weight) => (weight > 0 && weight < LEAST ? "<0.001" : weight.toFixed(3));
const linkOf = (flow, head) => head.weights.some(Boolean) ? `${flow.value.tokens[head.key]} ${head.weights[head.key].toFixed(2)}` : "off";
const habitOf = (head) => head.name ? ` (usually ${head.name}: ${head.sure.toFixed(2)} of all weight)` : "";

/** The heads of a layer, those first that bring most. */
export const byShare = (layer) => [...layer.heads].sort((a, b) => Math.abs(b.share) - Math.abs(a.share));

/** Where the zoom goes from here: the strongest head of the layer, its strongest weight. */
export function deeper({ zoom, value, alone }) {
  const { at, layer } = zoom;
  if (!layer || at.length === 3 || (alone && at.length === 2)) return null;
  if (at.length === 1) return [...at, byShare(layer)[0].head];
  return [...at, layer.heads[at[1] - 1].key].every((one) => one != null) ? [at[0], at[1], value.places[layer.heads[at[1] - 1].key]] : null;
}

// A head as lines from the tokens of the column before to the followed one, in hundredths of its box.
function arcsOf(flow, head) {
  const rows = flow.value.tokens.length;
  const y = (row) => (((row + 0.5) / rows) * 100).toFixed(2);
  const to = y(flow.zoom.layer.row);
  const order = head.weights.map((weight, row) => [weight, row]).sort((a, b) => a[0] - b[0]);
  return order.map(([weight, row]) => svg("path", { d: `M0 ${y(row)}C50 ${y(row)} 50 ${to} 100 ${to}`, "data-key": row, "vector-effect": "non-scaling-stroke",
    style: `--w:${weight.toFixed(4)};stroke:${hueOf(flow, row)};stroke-opacity:${(0.12 + 0.85 * Math.sqrt(weight)).toFixed(2)}` }, svg("title", {}, `${name(flow, row)}: ${number(weight)}`)));
}

function headBox(flow, head) {
  const { at } = flow.zoom;
  const told = `head ${at[0]}.${head.head}: attends most to ${linkOf(flow, head)}${habitOf(head)}; ${signedPercent(head.share)} of what ${name(flow, flow.zoom.layer.row)} takes`;
  return el("div", { class: "bx-zoom-head", "data-head": `${at[0]}.${head.head}` },
    svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" }, ...arcsOf(flow, head)),
    act(el("span", {}, el("b", {}, `${at[0]}.${head.head}`), el("em", {}, signedPercent(head.share)), el("bdi", {}, linkOf(flow, head))), { zoom: [at[0], head.head] }, { "aria-label": told, title: told }));
}

// The neurons that move the guess most, with the words that they promote.
function neuronsOf({ neurons, moved }) {
  const top = Math.max(...(neurons?.list ?? []).map((one) => Math.abs(one.effect)), 1e-9);
  const rows = (neurons?.list ?? []).map(({ neuron, effect, words }) => el("div", { class: "bx-zoom-neuron" },
    el("span", {}, `neuron ${neuron}`), el("i", { class: effect < 0 ? "bx-against" : null, style: `--part:${(Math.abs(effect) / top).toFixed(3)}` }), el("span", {}, `${effect > 0 ? "+" : "−"}${percent(Math.abs(effect))}`),
    el("small", {}, words.length ? `promotes ${words.join(", ")}` : "")));
  const about = neurons ? neurons.why || (rows.length ? `Of ${neurons.tried} neurons tried, these change the final guess “${neurons.guess}” most when switched off alone. +: it falls without the neuron; −: it rises.` : "The feed-forward part works on this token alone.") : "The neurons that move the guess most are being found …";
  return [el("h3", {}, "transform"), el("p", {}, about), ...rows, el("p", {}, `The layer turns the vector by ${moved.toFixed(2)} (1 − cosine, 0 to 2).`)];
}

function sentence(flow) {
  const { at, layer, weight } = flow.zoom;
  if (!layer) return `Layer ${at[0]} opens …`;
  const token = name(flow, layer.row);
  if (at.length === 1) {
    const [first] = byShare(layer);
    return `In layer ${at[0]}, ${token} keeps ${percent(layer.kept)} of itself; head ${at[0]}.${first.head} brings most, ${signedPercent(first.share)}, and attends most to ${name(flow, first.key)}.`;
  }
  const head = layer.heads[at[1] - 1];
  if (at.length === 2 && !head.weights.some(Boolean)) return `Head ${at[0]}.${at[1]} is off: it brings ${token} nothing.`;
  if (at.length === 2) return `Head ${at[0]}.${at[1]}${head.name ? ` (usually ${head.name})` : ""} lets ${token} attend most to ${name(flow, head.key)}: ${number(head.weights[head.key])} of 1.`;
  if (!weight) return `The weight of ${name(flow, at[2])} opens …`;
  return `Why ${number(weight.weight)}? Query and key agree where both strips have one colour.`;
}

// What can be asked for at this level; if a sender is chosen, how an open head may receive it.
function offersOf(flow, [layer, head, key]) {
  const { zoom, value, alone, sender } = flow;
  if (alone) return [];
  if (!head) return [act("move this vector …", { turn: zoom.layer?.ways ?? [] })];
  if (sender && key === undefined && layer > sender[0]) {
    const parts = ["query", "key", "value"].map((part) => act(part, { path: [sender, [layer, head, part]] }));
    return [`without ${senderName(flow, sender)}, only through its`, ...parts];
  }
  const inside = act("Inside a head →", { inside: [layer, head] });
  if (key === undefined) return [act("switch it off", { off: [layer, head] }), act("send it only to …", { send: [layer, head] }), inside];
  const query = value.places[zoom.layer?.row];
  return [key === query ? null : act("✂ cut this weight", { cut: [layer, query, key, head] }), inside];
}

function header(flow) {
  const { zoom: { at }, value } = flow;
  const places = [...at.slice(0, 2), ...at.slice(2).map((row) => value.places[row])];
  const names = ["sentence", `layer ${at[0]}`, `head ${at[0]}.${at[1]}`, value.tokens[at[2]]];
  const crumbs = names.slice(0, at.length + 1).flatMap((one, n) => [n ? el("span", { "aria-hidden": "true" }, " › ") : null,
    n === at.length ? el("bdi", { "aria-current": "location" }, one) : act(el("bdi", {}, one), { zoom: places.slice(0, n) })]);
  return [el("nav", { "aria-label": "zoom" }, ...crumbs), el("span", { class: "bx-zoom-offers" }, ...offersOf(flow, places)), el("p", { role: "status" }, sentence(flow))];
}

// ---- One weight: the query and the key as strips of numbers, their products, the sum, the softmax, and the value that is moved.

function strip(vector, named, end) {
  const cells = vector.map((one, n) => el("i", { class: one < 0 ? "bx-below" : null, style: `--part:${Math.min(1, Math.abs(one) / (end || 1)).toFixed(3)}`, title: `number ${n + 1}: ${one.toFixed(3)}` }));
  const told = `${named}: ${vector.length} numbers from ${Math.min(...vector).toFixed(2)} to ${Math.max(...vector).toFixed(2)}`;
  return el("span", { class: "bx-zoom-strip", role: "img", "aria-label": told }, ...cells);
}

const largest = (...vectors) => Math.max(...vectors.flat().map(Math.abs));
const line = (label, shown, result = "") => el("div", { class: "bx-zoom-line" }, el("span", {}, label), shown, el("b", {}, result));

// The scores of all tokens as bars, and this one's among them.
function scores({ value }, { scores: all, tokens }, key) {
  const exps = all.map((one) => Math.exp(one - Math.max(...all)));
  const bars = exps.map((one, row) => el("i", { class: row === key ? "bx-this" : null, style: `--part:${one.toFixed(3)};--hue:${hueOf({ value }, row)}`, title: `${value.tokens[row]}: score ${all[row].toFixed(2)}` }));
  return el("span", { class: "bx-zoom-scores", role: "img", "aria-label": `e to the power of the score, for ${bars.length} of ${tokens} tokens` }, ...bars);
}

/** The level of one weight: its `node`; `enter` lets both vectors come out of the boxes that they are made of. */
function sumOf(flow) {
  const { value, zoom: { at, layer, weight } } = flow;
  const [token, other] = [layer.row, at[2]].map((row) => `“${value.tokens[row]}”`);
  const products = weight.query.map((one, n) => one * weight.key[n]);
  const moved = weight.value.map((one) => one * weight.weight);
  const [end, much] = [largest(weight.query, weight.key), largest(weight.value, weight.output)];
  const cut = weight.weight !== weight.softmax && weight.weight === 0;
  const [query, key, product] = [strip(weight.query, `query of ${token}`, end), strip(weight.key, `key of ${other}`, end), strip(products, "products", largest(products))];
  const lines = [
    line(`query of ${token}`, query), line(`× key of ${other}`, key), line("= products", product, `sum ${weight.dot.toFixed(2)}`),
    line(`÷ √${weight.query.length}`, el("span", {}, "so that scores do not grow with the length of a key"), weight.scaled.toFixed(2)),
    line("softmax", scores(flow, weight, at[2]), weight.softmax.toFixed(4)),
    line(`value of ${other}`, strip(weight.value, `value of ${other}`, much), cut ? "× 0, cut" : `× ${weight.weight.toFixed(4)}`),
    line(`moved to ${token}`, strip(moved, `value times weight, moved to ${token}`, much)),
  ];
  const node = el("div", { class: "bx-zoom-sum", role: "group", tabindex: "-1", "aria-label": `the weight of ${other} for ${token}` }, ...lines);
  function enter(from) {
    const box = node.getBoundingClientRect();
    const [left, top] = [from.left - node.offsetLeft, -node.offsetTop];
    [[query, from.query], [key, from.key]].forEach(([one, y]) => {
      const area = one.getBoundingClientRect();
      one.animate([{ transform: `translate(${left - (area.left - box.left)}px, ${top + y - (area.top - box.top)}px) scaleX(0.1)`, opacity: 0.4 }, { transform: "none", opacity: 1 }], { duration: GLIDE, easing: "ease-out" });
    });
    lines.slice(2).forEach((one, n) => one.animate([{ opacity: 0, transform: "translateY(-24px)" }, { opacity: 1, transform: "none" }], { duration: GLIDE - 100, delay: 60 * n, fill: "backwards" }));
  }
  return { node, enter };
}

/** The stage of a picture; `still` says whether nothing is to move. */
export function stageFor(flow, still) {
  let made = {}; // the nodes, and what they were made for

  /** The nodes around it were made again. */
  const forget = () => (made = { key: "", stage: null, heads: [], weights: [] });
  forget();

  function leave(node) {
    if (!node) return;
    node.inert = true;
    node.classList.add("bx-gone");
    setTimeout(() => node.remove(), still.matches ? 0 : 300);
  }

  function grow(boxes, room) { // out of the lines between both columns
    if (still.matches) return;
    const middle = yOf(flow, flow.zoom.layer.row);
    for (const box of boxes) {
      const scale = `scale(${(room.width / box.offsetWidth).toFixed(3)}, 0.1)`;
      box.animate([{ transform: `translate(${room.left - box.offsetLeft}px, ${middle - box.offsetTop}px) ${scale}`, opacity: 0 }, { transform: "none", opacity: 1 }], { duration: 360, easing: "ease-out" });
    }
  }

  function build() {
    const { layer, at } = flow.zoom;
    made.stage ??= flow.nodes.field.appendChild(el("div", { class: "bx-zoom", role: "region", tabindex: "-1" }, el("header", {})));
    const key = JSON.stringify([at[0], layer && { ...layer, neurons: null }, flow.value.tokens]);
    if (key === made.key) {
      if (layer && layer.neurons !== made.neurons) made.list.replaceChildren(...neuronsOf(layer)); // they come later
      made.neurons = layer?.neurons;
      return false;
    }
    const fresh = !made.heads.length || JSON.parse(made.key)[0] !== at[0];
    const kept = made.stage.firstChild;
    made = { key, stage: made.stage, heads: layer ? layer.heads.map((head) => headBox(flow, head)) : [], weights: [], sum: "", neurons: layer?.neurons };
    made.list = layer && el("div", { class: "bx-zoom-list" }, ...neuronsOf(layer));
    made.stage.replaceChildren(kept, ...(layer ? [el("h3", { class: "bx-zoom-title" }, "attend"), ...made.heads, made.list] : []));
    return fresh && layer;
  }

  function place(room) {
    const { zoom, size, value } = flow;
    const open = level(flow);
    const [wide, high] = size.narrow ? [room.width, size.grid - TITLE] : [room.width * 0.6, Math.max(room.height, size.height - size.head - 8) - TITLE];
    const columns = size.narrow || wide >= 360 ? size.columns : 3;
    const lines = Math.ceil(made.heads.length / columns);
    const cell = { width: wide / columns, height: Math.min(high / lines, 170) };
    byShare(zoom.layer).forEach(({ head }, n) => {
      const box = made.heads[head - 1];
      const chosen = open > 1 && zoom.at[1] === head;
      box.classList.toggle("bx-open", chosen);
      box.classList.toggle("bx-away", open > 1 && !chosen);
      box.lastChild.inert = open > 1;
      box.style.setProperty("--caption", `${CAPTION}px`);
      if (chosen) putAt(box, { left: room.left - 6, top: room.top, width: room.width + 12, height: size.row * value.tokens.length });
      else putAt(box, { left: room.left + (n % columns) * cell.width + 4, top: room.top + TITLE + Math.floor(n / columns) * cell.height + 3, width: cell.width - 8, height: cell.height - 6 });
    });
    const list = made.list;
    putAt(list, size.narrow ? { left: 0, top: size.head + size.grid + 8, width: size.field - size.output } : { left: room.left + wide + 16, top: room.top, width: room.width - wide - 20 });
    made.stage.querySelector(".bx-zoom-title").style.cssText = `left:${px(room.left + 6)};top:${px(room.top)}`;
  }

  // The weights of the open head, a button beside each row.
  function drawWeights(room) {
    const { size, value, alone, zoom: { at, layer } } = flow;
    for (const one of made.weights) one.remove();
    const head = level(flow) === 2 ? layer.heads[at[1] - 1] : null;
    made.weights = (head?.weights ?? []).map((weight, row) => {
      const closed = alone || value.places[row] === undefined;
      const one = act(number(weight), { zoom: [at[0], at[1], value.places[row]] }, { class: `bx-zoom-weight${weight < 0.02 ? " bx-slight" : ""}`, "data-key": row,
        "aria-label": `${name(flow, row)}: ${number(weight)}`, disabled: closed ? "" : null });
      putAt(one, { left: room.left, top: yOf(flow, row) - size.row / 2, height: size.row });
      return one;
    });
    made.stage.append(...made.weights);
    if (head) rove(made.weights, head.key);
    if (level(flow) === 1) rove(keys().buttons, 0);
  }

  function drawSum(room) {
    const { zoom, size, value } = flow;
    const old = made.stage.querySelector(".bx-zoom-sum:not(.bx-gone)");
    const key = level(flow) === 3 && zoom.weight ? JSON.stringify([zoom.at, zoom.weight]) : "";
    if (key !== made.sum || !old) {
      leave(old);
      const sum = key ? sumOf(flow) : null;
      if (sum) made.stage.append(sum.node);
      made.sum = key;
      if (sum && !still.matches) requestAnimationFrame(() => sum.enter({ left: xOf(flow, zoom.at[0] - 1), query: yOf(flow, zoom.layer.row), key: yOf(flow, zoom.at[2]) }));
    }
    const node = made.stage.querySelector(".bx-zoom-sum:not(.bx-gone)");
    if (node) putAt(node, { left: room.left + 4, top: size.head + 4, width: room.width - 8, height: Math.max(size.height - size.head - 8, size.row * value.tokens.length) });
  }

  /** Draw what is open. */
  function draw() {
    const { zoom, size, boxes } = flow;
    if (!zoom?.layer) for (const box of boxes) box.classList.remove("bx-dim");
    if (!zoom) {
      leave(made.stage);
      return forget();
    }
    const fresh = build();
    const room = stageOf(flow);
    const [head] = made.stage.children;
    head.replaceChildren(...header(flow));
    putAt(head, size.phone ? { left: 0, top: 0, width: size.field - size.output, height: size.head - 28 } : { left: room.left, top: 0, width: room.width, height: size.head - 6 });
    made.stage.setAttribute("aria-label", head.firstChild.textContent);
    made.stage.dataset.level = level(flow);
    if (!zoom.layer) return;
    place(room);
    drawWeights(room);
    drawSum(room);
    if (fresh) grow(made.heads, room);
    const [open, row] = [level(flow), zoom.layer.row];
    boxes.forEach((box) => {
      const own = Number(box.dataset.row) === row || (open === 3 && Number(box.dataset.row) === zoom.at[2] && Number(box.dataset.state) < zoom.at[0]);
      box.classList.toggle("bx-dim", open > 1 ? !own : Number(box.dataset.state) === zoom.at[0] && !own);
    });
  }

  /** Put the focus where the level begins. */
  function focus() {
    if (!flow.zoom?.layer) return;
    const { at, layer } = flow.zoom;
    const first = [null, made.heads[byShare(layer)[0].head - 1]?.lastChild, made.weights[layer.heads[(at[1] ?? 1) - 1].key], made.stage.querySelector(".bx-zoom-sum:not(.bx-gone)")][at.length];
    (first && !first.disabled ? first : made.stage).focus({ preventScroll: true });
  }

  /** The buttons between which the arrow keys move, row by row. */
  function keys() {
    if (level(flow) === 2) return { columns: 1, buttons: made.weights };
    const order = flow.zoom?.layer && level(flow) === 1 ? byShare(flow.zoom.layer) : [];
    const buttons = order.map(({ head }) => made.heads[head - 1].lastChild);
    return { columns: Math.max(1, buttons.findIndex((one, n) => n && one.parentElement.style.top !== buttons[0].parentElement.style.top)), buttons };
  }

  return { draw, focus, keys, forget };
}
