// Draws what views show, from their values. Nothing is asked of any server.
import { bytes } from "../arithmetic/binary.js";
import { el } from "../shared/dom.js";
import * as picture from "../components/picture.js";
import { mount } from "../shared/mounting.js";
import { prose } from "./prose.js";

const ASKS = new Set(["HeadGrid", "SwitchBoard", "TokenRow", "Bars", "WordGrid", "Ranking", "Architecture", "Chips"]); // Python, when clicked

// ---- What was packed.

export const inflated = (base64) => new Response(new Blob([bytes(base64)]).stream().pipeThrough(new DecompressionStream("deflate"))).text();

// ---- The parts.

// A frame of rows, as `gr.Dataframe` takes them or as pandas writes them.
function frame({ columns, rows, label }) {
  const title = label ? [el("caption", {}, label)] : [];
  const row = (tag) => (cells) => el("tr", {}, ...cells.map((cell, index) => el(tag, { "data-column": tag === "td" ? String(columns[index]) : null }, cell == null ? "" : String(cell))));
  const long = columns.length > 4 && rows.length <= 3; // on a phone, one value below the other
  const table = el("table", { class: long ? "bx-frame-table bx-long-rows" : "bx-frame-table" }, ...title, el("thead", {}, row("th")(columns)), el("tbody", {}, ...rows.map(row("td"))));
  return el("div", { class: "bx-scrolls" }, table);
}

const others = { prose, code: (value) => [el("pre", {}, value)], frame: (value) => [frame(value)] };

function filled(box, part) {
  const { value } = part;
  if (!part.component) return box.replaceChildren(...others[part.kind](value));
  const props = { value };
  const root = el("div", { class: part.skeleton });
  let draw = () => {};
  box.replaceChildren(...(part.variants ? choices(part.variants, (other) => draw(props.value = other ?? value)) : []), root);
  const halt = (event) => event.key === "Tab" || event.target.closest(".bx-save") || event.stopImmediatePropagation();
  box.classList.toggle("bx-still", ASKS.has(part.component));
  for (const kind of ASKS.has(part.component) ? ["click", "dblclick", "keydown"] : []) box.addEventListener(kind, halt, { capture: true });
  mount(part.component, box, () => {}, props, (_, drawing) => (draw = drawing), part.options);
}

// Buttons for what else a picture may show, one of them pressed, and what that changes.
function choices(variants, show) {
  const told = el("p", { class: "bx-variant-told", role: "status" });
  const buttons = variants.map(({ label }) => el("button", { type: "button", "aria-pressed": "false" }, label));
  const press = (at) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === at)));
    told.textContent = variants[at].told;
    show(variants[at].value);
  };
  buttons.forEach((button, at) => button.addEventListener("click", () => press(button.ariaPressed === "true" ? 0 : at)));
  buttons[0].ariaPressed = "true";
  return [el("div", { class: "bx-variants", role: "group", "aria-label": "Cut a link" }, el("span", {}, "Cut"), ...buttons), told];
}

function placed(boxes, part) {
  const box = el("div", { class: `bx-part${part.kind === "check" ? " bx-check" : ""}${part.caption ? " bx-caption" : ""}`, "data-part": part.name });
  boxes.push([box, part]);
  return box;
}

function parts(boxes, list) {
  const [seen, more] = [list.filter((one) => !one.more), list.filter((one) => one.more)];
  const folded = more.length ? [el("details", {}, el("summary", {}, "More"), ...more.map((one) => placed(boxes, one)))] : [];
  return [...seen.map((one) => placed(boxes, one)), ...folded];
}

function view(boxes, one) {
  const beside = new Set(one.columns.flatMap(({ names }) => names));
  const found = (names) => one.parts.filter((part) => names.includes(part.name));
  const rest = one.parts.filter((part) => !beside.has(part.name));
  const first = one.parts.findIndex((part) => beside.has(part.name));
  const above = rest.filter((part) => one.parts.indexOf(part) < first);
  const columns = one.columns.map(({ names, width }) => el("div", { style: `--width:${width}` }, ...parts(boxes, found(names))));
  const title = one.heading ? [el("h2", {}, one.heading)] : [];
  const note = one.note ? [el("p", { class: "bx-caption" }, one.note)] : [];
  const side = columns.length ? [el("div", { class: "bx-side" }, ...columns)] : [];
  return el("section", { class: "bx-view", style: `--width:${one.width}`, "data-view": one.name },
    ...title, ...note, ...parts(boxes, above), ...side, ...parts(boxes, rest.filter((part) => !above.includes(part))));
}

/** Fill `main` with an article for each side, as explorer/export/page_file.py makes them; `tools` are nodes beside the first title. */
export async function draw(main, sides, tools = []) {
  picture.saveWith(sides[0].provenance);
  const boxes = []; // [box, part], filled when they have their place
  main.replaceChildren(...sides.map((one, index) => el("article", {},
    el("div", { class: "bx-top" }, el("h1", {}, one.question), ...(index ? [] : tools)),
    ...(one.input ? [Object.assign(placed(boxes, one.input), { className: "bx-strip-of-input" })] : []),
    ...(one.finding ? [el("p", { class: "bx-found" }, one.finding)] : []),
    el("div", { class: "bx-views" }, ...one.views.map((each) => view(boxes, each))),
    el("footer", {}, one.made))));
  main.classList.toggle("bx-sides", sides.length > 1);
  for (const [box, part] of boxes) filled(box, part);
}
