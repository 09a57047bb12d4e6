// Small cards in the picture: what a click on a line offers, where a path may end, and the slider of a box.
import { el } from "../../shared/dom.js";
import { act, tellRoute } from "./drawing.js";
import { level, px, xOf, yOf } from "./layout.js";

const CARD = 250; // px

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
