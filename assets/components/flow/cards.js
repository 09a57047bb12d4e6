// Small cards in the picture: what a click on a line offers, where a path may end, and the slider of a box.
import { el } from "../../shared/dom.js";
import { act, tellRoute } from "./drawing.js";
import { level, px, yOf } from "./layout.js";

const CARD = 250; // px
const STRONGEST = 3; // times the distance between both words
const PATIENCE = 4000; // ms after which a strength is sent though the last has no answer

export const cardOf = (said, ...content) => el("div", { class: "bx-flow-card", role: "region", tabindex: "-1", "aria-label": said },
  el("header", {}, el("span", {}, `${said[0].toUpperCase()}${said.slice(1)}.`), act("✕", { close: true }, { "aria-label": "Close" })), el("p", {}, ...content));

/** What a click on a line offers. */
export function lineCard(flow, [layer, query, key], part) {
  const { value, alone, target } = flow;
  const link = [layer + 1, value.places[query], value.places[key]];
  const closed = query === key || alone || link.includes(undefined);
  return cardOf(tellRoute(flow, layer, query, key, part), closed ? null : act("✂ cut it", { cut: [...link, 0] }), closed ? null : act("send it only to …", { send: link }),
    alone && query !== target.row ? null : act(`look inside layer ${layer + 1}`, { zoom: [layer + 1] }));
}

/** The name of what sends: a head, or a link. */
export const senderName = ({ value }, [layer, ...at]) => at.length === 1 ? `head ${layer}.${at[0]}`
  : `${[at[1], at[0]].map((token) => value.tokens[value.places.indexOf(token)]).join(" → ")} in layer ${layer}`;

/** Where a path may end. */
export function sendCard(flow) {
  const card = cardOf(`choose what reads ${senderName(flow, flow.sender)}: a later box${flow.sender.length > 2 ? " of its row" : ""}, or a head of a later layer`);
  card.role = "status"; // it is read out where the focus stays
  return card;
}

/** Put a card below some rows, or above them, where it covers no answer and is seen; x is its middle. */
export function putCard(flow, card, x, rows) {
  const { size, nodes } = flow;
  if (!card.isConnected) nodes.field.append(card);
  card.hidden = level(flow) > 0;
  const seen = nodes.sheet.parentElement.scrollLeft; // on a phone
  card.style.cssText = `left:${px(Math.max(seen, Math.min(x - CARD / 2, size.field - size.output - CARD)))};width:${px(CARD)}`;
  const [above, below] = [yOf(flow, Math.min(...rows)) - size.row * 0.7 - card.offsetHeight, yOf(flow, Math.max(...rows)) + size.row * 0.7];
  card.style.top = px(below + card.offsetHeight <= size.seen ? below : above > 0 ? above : Math.max(0, size.seen - card.offsetHeight));
}

// ---- A slider: a direction between two words, added to the vector of the chosen box. The words follow while it moves.

/** The slider of a picture; `ask` sends what is asked for. */
export function turnOf(flow, ask) {
  const way = el("select", { "aria-label": "Direction" });
  const strength = el("input", { type: "range", min: 0, max: STRONGEST, step: 0.1, "aria-label": "Strength of the direction" });
  const shown = el("output", {});
  const card = cardOf("Move this vector from one word to another", way, shown, strength);
  let [waits, asked] = [false, null]; // whether a strength is still to be sent, and when the one without an answer was

  const place = () => [flow.target.state, flow.value.places[flow.target.row]];
  const tell = () => (shown.textContent = `× ${Number(strength.value).toFixed(1)}`);

  function send() {
    waits = asked !== null && performance.now() < asked + PATIENCE;
    if (waits) return;
    asked = performance.now();
    ask({ move: [...place(), ...way.value.split(" "), Number(strength.value)] });
  }

  /** After an answer: whether another strength was asked for meanwhile, which is sent now. */
  function isNext() {
    asked = null;
    const more = waits;
    if (more) send();
    return more;
  }

  /** The card with some pairs of words, which shows what the run has. */
  function draw(ways) {
    const token = flow.value.tokens[flow.target.row].toLowerCase();
    const own = ways.findIndex(([word]) => word === token);
    if (!way.childElementCount) way.replaceChildren(...ways.map(([word, other]) => el("option", { value: `${word} ${other}` }, `${word} → ${other}`)));
    const move = flow.value.move;
    const here = move && move.slice(0, 2).join() === place().join();
    if (here && asked === null && !waits) [way.value, strength.value] = [move.slice(2, 4).join(" "), move[4]];
    else if (!here && asked === null && !waits) strength.value = 0;
    if (!card.isConnected && !here) way.selectedIndex = Math.max(0, own);
    tell();
    return card;
  }

  strength.addEventListener("input", () => (tell(), send()));
  way.addEventListener("input", () => Number(strength.value) && send());
  return { draw, isNext };
}
