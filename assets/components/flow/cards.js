// What a click on a line offers: its share, and the cut.
import { el } from "../../shared/dom.js";
import { tellRoute } from "./drawing.js";
import { px, xOf, yOf } from "./layout.js";

const WIDTH = 250; // px

const act = (text, index, more = {}) => el("button", { type: "button", "data-act": JSON.stringify(index), ...more }, text);

/**
 * The card of a line, placed beside it, where it covers no answer.
 * @param {import("./layout.js").Flow} flow
 * @param {[number, number, number]} route layer from 0, query and key
 * @param {number} part the share of the chosen place that came this way
 */
export function routeCard(flow, [layer, query, key], part) {
  const { value, size, alone } = flow;
  const said = tellRoute(flow, layer, query, key, part);
  const own = query === key;
  const cut = [layer + 1, value.places[query], value.places[key], 0];
  const offers = [own || alone || cut.includes(undefined) ? null : act("✂ cut it", { cut }), alone && query !== flow.target.row ? null : act(`look inside layer ${layer + 1}`, { zoom: [layer + 1] })];
  const card = el("div", { class: "bx-flow-card", role: "region", tabindex: "-1", "aria-label": said },
    el("header", {}, el("span", {}, `${said[0].toUpperCase()}${said.slice(1)}.`), act("✕", { close: true }, { "aria-label": "Close" })), el("p", {}, ...offers));
  const middle = (xOf(flow, layer) + xOf(flow, layer + 1)) / 2;
  const left = Math.max(0, Math.min(middle - WIDTH / 2, size.field - size.output - WIDTH));
  card.style.cssText = `left:${px(left)};width:${WIDTH}px`;
  return { card, top: Math.min(yOf(flow, query), yOf(flow, key)), bottom: Math.max(yOf(flow, query), yOf(flow, key)) };
}
