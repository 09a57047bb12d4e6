// Beside a head that is pointed at or focused, wherever it is: its plain name, how sure that is, and its links in this input.
import { bytes } from "../arithmetic/binary.js";
import { el, svg } from "../shared/dom.js";
import { host } from "../shared/host.js";
import { telling } from "../shared/withheld.js";

const PAUSE = 120; // ms for which a head is pointed at before its card comes
const MOST = 18; // tokens in a card: those of the strongest links of a longer input
const [ROW, WIDE, LEFT, RIGHT] = [15, 250, 88, 162]; // px: a token's row, the picture, and where its lines begin and end
const LETTERS = 11; // of a token
const INPUT = ["model", "a", "b", "swap"]; // the parameters of a link that say what is read

const box = el("div", { id: "head-card", role: "tooltip", hidden: "" });
const known = { input: "", cards: null }; // a promise of the cards of the last input
const now = { head: "", timer: 0 };

async function load(query) {
  const answer = await fetch(host.page.file("heads.json", query));
  if (!answer.ok) return null;
  const cards = await answer.json();
  return { ...cards, keys: new Uint16Array(bytes(cards.keys).buffer), weights: bytes(cards.weights) };
}

function cards() {
  const query = host.page?.query();
  if (!query) return null;
  const asked = new URLSearchParams(query);
  const input = JSON.stringify(INPUT.map((name) => asked.get(name)));
  if (input !== known.input) Object.assign(known, { input, cards: load(query).catch(() => null) });
  return known.cards;
}

// The tokens of the strongest links, in their order, and these links as [query, key, weight].
function linksOf({ tokens, keys, weights }, index) {
  const first = index * tokens.length;
  const all = tokens.map((_, query) => [query, keys[first + query], weights[first + query] / 255]).sort((a, b) => b[2] - a[2]);
  const seen = new Set();
  for (const [query, key] of all) if (new Set([...seen, query, key]).size <= MOST) seen.add(query).add(key);
  return { rows: [...seen].sort((a, b) => a - b), links: all.filter(([query, key]) => seen.has(query) && seen.has(key)).reverse() };
}

function arcs(known, index) {
  const { rows, links } = linksOf(known, index);
  const y = (token) => (rows.indexOf(token) + 0.5) * ROW;
  const short = (token) => (token.length > LETTERS ? `${token.slice(0, LETTERS - 1)}…` : token);
  const words = (x, anchor) => rows.map((token) => svg("text", { x, y: y(token) + 4, "text-anchor": anchor }, short(known.tokens[token])));
  const line = ([from, to, weight]) =>
    svg("path", { d: `M${LEFT} ${y(from)}C${LEFT + 34} ${y(from)} ${RIGHT - 34} ${y(to)} ${RIGHT} ${y(to)}`, "stroke-opacity": Math.max(0.08, weight), "stroke-width": 0.8 + 2 * weight });
  return svg("svg", { viewBox: `0 0 ${WIDE} ${rows.length * ROW}`, width: WIDE, height: rows.length * ROW, "aria-hidden": "true" },
    ...links.map(line), ...words(LEFT - 6, "end"), ...words(RIGHT + 6, "start"));
}

function fill(head, note, known) {
  const [layer, number] = head.split(".").map(Number);
  const index = known && (layer - 1) * known.heads + number - 1;
  const [name, sure, elsewhere] = known?.names[index] ?? [];
  const own = name && note.startsWith(`${name}: ${sure}`) ? note.slice(`${name}: ${sure}`.length).replace(/^[;,] /, "") : note;
  const few = known && known.tokens.length > MOST ? "Of the strongest links, each token's largest weight" : "Each token's largest weight";
  box.replaceChildren(el("p", { class: "bx-subdued" }, `Layer ${layer}, head ${number}`),
    ...(name && !telling.withheld ? [el("p", {}, el("b", {}, name), `: ${sure}`), elsewhere && el("p", {}, `Across the corpus: ${elsewhere}`)] : []),
    ...(own && !(name && telling.withheld) ? [el("p", { class: "bx-subdued" }, own)] : []),
    ...(known ? [arcs(known, index), el("p", { class: "bx-subdued" }, `${few}; stronger is darker.`)] : []));
}

// At the right of the picture with the head, or at its left where there is more room; on a phone at the end of the screen.
function place(beside, top) {
  box.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = box;
  const most = document.documentElement.clientWidth - width - 8;
  const left = beside.right + 10 <= most || beside.left < width ? beside.right + 10 : beside.left - width - 10;
  box.style.left = `${Math.max(8, Math.min(left, most))}px`;
  box.style.top = `${Math.max(8, Math.min(innerWidth > 640 ? top - 20 : innerHeight, innerHeight - height - 8))}px`;
}

async function show({ head, beside, top, owner }, note) {
  if (!box.isConnected) document.body.append(box);
  const coming = cards();
  if (!coming) return;
  const given = await coming;
  if (now.head !== head) return;
  fill(head, note, given);
  place(beside, top);
  owner?.setAttribute("aria-describedby", box.id);
}

function hide() {
  clearTimeout(now.timer);
  now.head = "";
  box.hidden = true;
}

document.addEventListener("bert:head", ({ detail }) => {
  if (!detail.head) return hide();
  const note = (detail.owner?.getAttribute("aria-label") ?? "").replace(/^[^:]*(: )?/, "");
  clearTimeout(now.timer);
  now.head = detail.head;
  now.timer = setTimeout(() => show(detail, note), box.hidden ? PAUSE : 0);
});
document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
document.addEventListener("scroll", hide, { capture: true, passive: true });
