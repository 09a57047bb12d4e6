// The nodes of the picture: those of the columns, and those of the rows, which go on where the text goes on.
import { continued } from "../../arithmetic/routes.js";
import { arrange, el, rove, svg } from "../../shared/dom.js";
import { BARE, hueOf, isSeen, putAt, px, xOf, yOf } from "./layout.js";

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
