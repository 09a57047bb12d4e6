// The nodes of the picture, the lines between them with their cards, and boxes: what is taken from where, and the words there.
import { percent } from "../../arithmetic/labels.js";
import { continued, routesTo, shareOf } from "../../arithmetic/routes.js";
import { arrange, el, rove, svg } from "../../shared/dom.js";
import { BARE, curve, hueOf, isSeen, pathEnds, putAt, px, receives, xOf, yOf } from "./layout.js";

const LEAST = 0.004; // routes with a smaller share of the chosen place are not drawn
const MOST = 220; // routes drawn at once
const HITS = 80; // of these that can be clicked
const STUB = 6; // px that a line hangs down when it is cut

/** A button that asks for something; see `ask` of flow.js. */
export const act = (text, index, more = {}) => el("button", { type: "button", "data-act": JSON.stringify(index), ...more }, text);

/** The routes that end in a place; where they cannot be computed here, those that were sent. */
export const traced = ({ value, mixing }, place) => mixing ? routesTo(mixing, value.tokens.length, place, LEAST) : { shares: value.shares, routes: value.routes };

/** The sentence about a line: layer from 0. */
export function tellRoute({ value, mixing }, layer, query, key, part) {
  const name = (row) => `“${value.tokens[row]}”`;
  const of = mixing ? ` ${percent(shareOf(mixing, value.tokens.length, layer, query, key))}` : "";
  const how = query === key ? `${name(query)} keeps${of} of itself` : `${name(query)} takes${of} from ${name(key)}`;
  return `layer ${layer + 1}: ${how}; ${percent(part)} of the chosen place came this way`;
}

/** A line that is drawn already glides to its new width; a new one grows from nothing. */
export function drawLines(flow, routes, shown, still) {
  const { nodes, size, value } = flow;
  const strongest = routes.filter(([layer]) => layer < shown).sort((a, b) => b[3] - a[3]).slice(0, MOST);
  const now = new Map();
  const fresh = [];
  for (const [layer, query, key, part] of strongest) {
    const name = `${layer} ${query} ${key}`;
    const own = query === key;
    const line = flow.lines.get(name) ?? svg("path", { style: "stroke-width:0;stroke-opacity:0" });
    if (!line.isConnected) fresh.push(line);
    const [from, to, snapped] = [xOf(flow, layer) + size.box / 2, xOf(flow, layer + 1) - size.box / 2, flow.snapped === name];
    line.classList.toggle("bx-snapped", snapped);
    line.setAttribute("d", snapped ? curve(from, yOf(flow, key), from + (to - from) / 3, yOf(flow, key) + STUB) : curve(from, yOf(flow, key), to, yOf(flow, query)));
    line.style.stroke = own ? "var(--bx-flow-own)" : hueOf(flow, key);
    line.goal = { strokeWidth: px(Math.max(0.8, 12 * Math.sqrt(part) * (own ? 0.6 : 0.85))), strokeOpacity: own ? 0.35 : (0.22 + 0.6 * Math.min(1, 2.5 * part)).toFixed(3) };
    now.set(name, line);
  }
  nodes.edges.append(...fresh);
  if (fresh.length && !still) fresh[0].getBoundingClientRect(); // start the transition at width 0
  for (const [name, line] of flow.lines) if (!now.has(name)) line.remove();
  for (const line of now.values()) Object.assign(line.style, line.goal);
  flow.lines = now;
  nodes.path.setAttribute("d", value.path ? curve(...pathEnds(flow)) : "");
  flow.strongest = strongest.find(([, query, key]) => query !== key && value.places[Math.max(query, key)] !== undefined)?.slice(0, 3) ?? null;
  nodes.hits.replaceChildren(...strongest.slice(0, HITS).reverse().map(([layer, query, key, part]) => {
    const hit = svg("path", { d: now.get(`${layer} ${query} ${key}`).getAttribute("d"), "data-route": JSON.stringify([layer, query, key]) });
    hit.append(svg("title", {}, tellRoute(flow, layer, query, key, part)));
    return hit;
  }));
}

/** The boxes at a stop of the story that shows the columns up to `shown`. */
export function drawBoxes(flow, shares, shown) {
  const { value, target } = flow;
  const { state: end, row: chosenRow } = target;
  flow.boxes.forEach((box) => {
    const [row, state] = [Number(box.dataset.row), Number(box.dataset.state)];
    const part = state <= end ? shares[state]?.[row] ?? 0 : 0;
    const words = value.words?.[state]?.[row];
    const word = words ? words[0][0] : value.moved ? (value.moved[state]?.[row] ?? 0).toFixed(2) : "";
    const before = value.before?.[state]?.[row];
    const at = state === end && row === chosenRow;
    box.firstChild.textContent = word;
    box.classList.toggle("bx-long", 0.6 * word.length * flow.size.letters > flow.size.box - 8); // in smaller letters
    box.classList.toggle("bx-changed", before != null);
    box.setAttribute("aria-pressed", String(at));
    box.classList.toggle("bx-later", state > shown || !receives(flow, state, row));
    box.style.setProperty("--share", `${part > 0.004 ? Math.round(10 + 46 * Math.sqrt(part)) : 0}%`);
    box.classList.toggle("bx-far", part < (words && word === value.tokens[row] ? 0.06 : 0.02)); // such pale boxes need legible text
    const where = `${state ? `after layer ${state}` : "embeddings"}, ${value.tokens[row]}`;
    const read = words ? `: read as ${words.map(([one, p]) => `${one} ${percent(p)}`).join(", ")}` : value.moved && state ? `: moved by ${word} (1 − cosine)` : "";
    const was = before != null ? `, before the change ${before}` : "";
    box.title = `${where}${read}${was}; ${percent(part)} of the chosen place`;
    box.setAttribute("aria-label", box.title);
  });
  flow.labels.forEach((label, row) => label.classList.toggle("bx-chosen", row === chosenRow));
  rove(flow.boxes, chosenRow * value.states + end);
}

/** What does not depend on the tokens. */
export function build(flow) {
  const { value, root, alone } = flow;
  const closed = alone && !value.layers.length;
  flow.titles = Array.from({ length: value.states }, (_, state) =>
    el("button", { type: "button", class: "bx-flow-title", "data-layer": state, disabled: state && !closed ? null : "" },
      el("b", {}, state ? `layer ${state}` : "embeddings"), el("span", {}, state === 1 ? "attend, transform" : "")));
  [flow.labels, flow.boxes, flow.lines, flow.outputs] = [[], [], new Map(), new Map()];
  const edges = svg("g", {});
  const hits = svg("g", { class: "bx-flow-hits" });
  const path = svg("path", { class: "bx-flow-path" });
  const names = el("div", { class: "bx-flow-names" });
  const cells = el("div", { class: "bx-flow-cells" });
  const drawing = svg("svg", { class: "bx-flow-lines", "aria-hidden": "true" }, edges, path, hits);
  const field = el("div", { class: "bx-flow-field" }, drawing, ...flow.titles, cells);
  const sheet = el("div", { class: "bx-flow-sheet" }, names, field);
  const player = el("button", { type: "button", class: "bx-flow-play" });
  flow.stops = [...value.stops.map(({ title }, n) => el("button", { type: "button", "data-stop": n }, `${n + 1} ${title}`)), el("button", { type: "button", "data-stop": -1 }, "together")];
  const said = el("p", { role: "status" });
  const story = el("div", { class: "bx-flow-story" }, el("div", { class: "bx-flow-stops", role: "toolbar", "aria-label": "the picture step by step" }, player, ...flow.stops), said);
  const below = el("div", { class: "bx-flow-below" });
  const note = el("p", { class: "bx-flow-note" });
  flow.nodes = { edges, path, hits, names, cells, drawing, field, sheet, player, said, story, below, note };
  root.replaceChildren(story, el("div", { class: "bx-flow-scroll" }, sheet), below, note);
}

/** The rows, out of the nodes of those that they continue, so that everything glides to its new place. */
export function buildRows(flow, before) {
  const { value, nodes } = flow;
  const from = continued(value.tokens, before);
  const button = (old, options) => {
    const node = old ?? el("button", { type: "button" }, el("bdi", {}));
    for (const [name, option] of Object.entries(options)) node.setAttribute(name, option);
    return node;
  };
  flow.labels = arrange(nodes.names, flow.labels, value.tokens.map((token, row) => {
    const label = button(flow.labels[from[row]], { tabindex: "-1", class: `bx-flow-label bx-${value.kinds[row]}`, "data-row": row, "data-token": value.places[row], "data-state": value.states - 1, title: token });
    label.firstChild.textContent = token;
    return label;
  }));
  flow.boxes = arrange(nodes.cells, flow.boxes, value.tokens.flatMap((_, row) => Array.from({ length: value.states }, (_, state) =>
    button(flow.boxes[from[row] * value.states + state], { class: "bx-flow-box", "data-row": row, "data-token": value.places[row], "data-state": state }))));
  const to = new Map(from.map((old, row) => [String(old), row]));
  const moved = [...flow.lines].map(([name, line]) => [name.split(" ").map((one, n) => (n ? to.get(one) : one)), line]);
  for (const [name, line] of moved) if (name.includes(undefined)) line.remove();
  flow.lines = new Map(moved.filter(([name]) => !name.includes(undefined)).map(([name, line]) => [name.join(" "), line]));
  rove(flow.boxes, 0);
}

/** Put all of it where it belongs. */
export function place(flow) {
  const { root, size, nodes, zoom } = flow;
  root.classList.toggle("bx-small", size.phone);
  root.classList.toggle("bx-slim", size.narrow);
  for (const name of ["row", "letters", "line", "head"]) root.style.setProperty(`--${name}`, px(size[name]));
  putAt(nodes.names, { width: size.label });
  putAt(nodes.sheet, { height: size.height });
  putAt(nodes.field, { width: size.field });
  nodes.drawing.setAttribute("width", size.field);
  nodes.drawing.setAttribute("height", size.height);
  root.dataset.level = zoom?.at.length ?? 0;
  const wide = zoom ? size.box + 8 : size.column;
  flow.titles.forEach((title, state) => {
    putAt(title, { left: xOf(flow, state) - wide / 2, width: wide });
    title.classList.toggle("bx-narrow", !zoom && wide < 92);
    title.classList.toggle("bx-bare", Boolean(zoom) || size.column < BARE);
    title.classList.toggle("bx-away", !isSeen(flow, state));
  });
  flow.labels.forEach((label, row) => (label.style.top = px(yOf(flow, row) - size.row / 2)));
  flow.boxes.forEach((box) => {
    const [state, row] = [Number(box.dataset.state), Number(box.dataset.row)];
    putAt(box, { left: xOf(flow, state) - size.box / 2, top: yOf(flow, row) - size.row * 0.4, width: size.box });
    box.style.setProperty("--hue", hueOf(flow, row));
    box.classList.toggle("bx-away", !isSeen(flow, state));
  });
}
