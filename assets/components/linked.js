// Linked highlighting: a token or head that is pointed at is marked wherever else it is shown, by `data-token` (zero-based) and
// `data-head` ("layer.head", from 1). Beside a head: its plain name, how sure that is, and its links in this input.
import { bytes } from "../arithmetic/binary.js";
import { ask } from "../shared/asking.js";
import { el, svg } from "../shared/dom.js";
import { host, withheld } from "../shared/mounting.js";

const PAUSE = 120; // ms for which a head is pointed at before its card comes
const MOST = 18; // tokens in a card: those of the strongest links of a longer input
const [ROW, WIDE, LEFT, RIGHT] = [15, 250, 88, 162]; // px: a token's row, the picture, and where its lines begin and end
const LETTERS = 11; // of a token
const INPUT = ["model", "a", "b", "swap"]; // the parameters of a link that say what is read

const box = el("div", { id: "head-card", role: "tooltip", hidden: "" });
const known = { input: "", cards: null }; // a promise of the cards of the last input
const now = { head: "", timer: 0 };
let linked = ""; // a selector of what is marked

// The cards of all heads for the input of a link; null where they cannot be had.
function cardsOf(query) {
  const input = JSON.stringify(INPUT.map((name) => new URLSearchParams(query).get(name)));
  const unpacked = ({ keys, weights, ...rest }) => ({ ...rest, keys: new Uint16Array(bytes(keys).buffer), weights: bytes(weights) });
  if (input !== known.input) Object.assign(known, { input, cards: ask(host.page.file("heads.json", query)).then(unpacked).catch(() => null) });
  return known.cards;
}

// A line from each token to the one that it attends to most; of a long input, those of the strongest links.
function arcs({ tokens, keys, weights }, index) {
  const first = index * tokens.length;
  const all = tokens.map((_, query) => [query, keys[first + query], weights[first + query] / 255]).sort((a, b) => b[2] - a[2]);
  const seen = new Set();
  for (const [query, key] of all) if (new Set([...seen, query, key]).size <= MOST) seen.add(query).add(key);
  const rows = [...seen].sort((a, b) => a - b);
  const y = (token) => (rows.indexOf(token) + 0.5) * ROW;
  const short = (token) => (token.length > LETTERS ? `${token.slice(0, LETTERS - 1)}…` : token);
  const words = (x, anchor) => rows.map((token) => svg("text", { x, y: y(token) + 4, "text-anchor": anchor }, short(tokens[token])));
  const line = ([from, to, weight]) => svg("path", { d: `M${LEFT} ${y(from)}C${LEFT + 34} ${y(from)} ${RIGHT - 34} ${y(to)} ${RIGHT} ${y(to)}`,
    "stroke-opacity": Math.max(0.08, weight), "stroke-width": 0.8 + 2 * weight });
  return svg("svg", { width: WIDE, height: rows.length * ROW, "aria-hidden": "true" },
    ...all.filter(([query, key]) => seen.has(query) && seen.has(key)).reverse().map(line), ...words(LEFT - 6, "end"), ...words(RIGHT + 6, "start"));
}

function fill(head, note, cards) {
  const [layer, number] = head.split(".").map(Number);
  const index = (layer - 1) * cards.heads + number - 1;
  const [name, sure, elsewhere] = cards.names[index];
  const more = note.replace(`${name}: ${sure}; `, ""); // the grid of Attention says the name itself
  const told = [el("p", {}, el("b", {}, name), `: ${sure}`), elsewhere && el("p", {}, `Across the corpus: ${elsewhere}`), el("p", { class: "bx-subdued" }, more)];
  const which = cards.tokens.length > MOST ? "The strongest links" : "Each token's largest weight";
  box.replaceChildren(el("p", { class: "bx-subdued" }, `Layer ${layer}, head ${number}`), ...(withheld.telling ? [] : told),
    arcs(cards, index), el("p", { class: "bx-subdued" }, `${which}; stronger is darker.`));
}

// At the right of the picture with the head, or at its left where there is more room, but never over the answers of the Overview;
// on a phone at the end of the screen.
function place(beside, top, owner) {
  box.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = box;
  const answers = owner?.closest(".bx-flow")?.querySelector(".bx-flow-output")?.getBoundingClientRect().left ?? Infinity;
  const most = Math.min(document.documentElement.clientWidth, answers) - width - 8;
  const left = beside.right + 10 <= most || beside.left < width ? beside.right + 10 : beside.left - width - 10;
  box.style.left = `${Math.max(8, Math.min(left, most))}px`;
  box.style.top = `${Math.max(8, Math.min(innerWidth > 640 ? top - 20 : innerHeight, innerHeight - height - 8))}px`;
}

async function show(head, beside, top, owner) {
  const query = host.page?.query();
  const cards = query && await cardsOf(query);
  if (!cards || now.head !== head) return;
  if (!box.isConnected) document.body.append(box);
  fill(head, (owner?.getAttribute("aria-label") ?? "").replace(/^[^:]*(: )?/, ""), cards);
  place(beside, top, owner);
  owner?.setAttribute("aria-describedby", box.id);
  owner?.removeAttribute("title"); // the card has it
}

function hide() {
  clearTimeout(now.timer);
  now.head = "";
  box.hidden = true;
}

// A head is pointed at, "" for none: beside which picture, how far down (px), and its button.
function pointAt(head, beside = null, top = 0, owner = null) {
  if (!head) return hide();
  clearTimeout(now.timer);
  now.head = head;
  now.timer = setTimeout(() => show(head, beside, top, owner), box.hidden ? PAUSE : 0);
}

function over({ target, type, relatedTarget }) {
  const one = target.closest?.("gradio-app :is([data-token], [data-head])");
  const { head, token } = one?.dataset ?? {};
  const opened = type === "focusin" && one?.closest(".bx-zoom-head") && !relatedTarget?.closest?.(".bx-zoom-head"); // with its layer
  if (head && !opened) pointAt(head, (one.closest(".bx-zoom-head") ?? one.parentElement).getBoundingClientRect(), one.getBoundingClientRect().top, one);
  else if (!target.closest?.(".bx-chart")) pointAt("");
  const marked = head ? `[data-head="${head}"]` : token ? `[data-token="${token}"]` : "";
  if (marked === linked) return;
  linked = marked;
  for (const one of document.querySelectorAll(".bx-linked")) one.classList.remove("bx-linked");
  if (marked) for (const one of document.querySelectorAll(`gradio-app ${marked}`)) one.classList.add("bx-linked");
}
document.addEventListener("pointerover", over, { passive: true });
document.addEventListener("focusin", over);

/** Point at the heads of a chart whose axes are head and layer, when the pointer is over its cells. */
export function chart(box) {
  box.on("plotly_hover", ({ event, points: [{ xaxis, yaxis, x, y }] }) => {
    const isHead = xaxis?.title?.text === "head" && yaxis?.title?.text === "layer";
    if (isHead) pointAt(`${y}.${x}`, box.getBoundingClientRect(), event.clientY);
  });
  box.on("plotly_unhover", () => pointAt(""));
}

/** Whether these are all tokens of the page's input. */
export const isInput = (tokens) => String(tokens) === String([...document.querySelectorAll("gradio-app #strip .bx-token")].map((chip) => chip.textContent));

document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
document.addEventListener("scroll", hide, { capture: true, passive: true });
