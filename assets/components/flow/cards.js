// One level deeper than the whole model: a card about a layer, or about a route.
import { percent, signedPercent } from "../../arithmetic/numbers.js";
import { el } from "../../shared/dom.js";
import { host } from "../../shared/host.js";

const HEADS = 6; // heads listed one by one

/**
 * The card that is open, null for none.
 * @param {{inside?: object, route?: object, tokens: string[]}} value what Python sent about a layer or a route
 * @param {boolean} alone whether no server answers
 */
export function cardOf({ inside, route, tokens }, alone) {
  if (inside) return layerCard(inside, { tokens, alone });
  return route ? routeCard(route, { tokens, alone }) : null;
}

const bar = (part, top) => el("i", { style: `width:${(100 * Math.min(1, Math.abs(part) / (top || 1))).toFixed(1)}%`, class: part < 0 ? "bx-against" : null });
const act = (text, index, more = {}) => el("button", { type: "button", "data-act": JSON.stringify(index), ...more }, text);

// The heads that add or remove most, and the sum of the remaining heads.
function headsOf(list, layer, route, { tokens, alone }) {
  const name = (row) => `“${tokens[row]}”`;
  const sorted = [...list].sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
  const others = sorted.slice(HEADS);
  const rest = others.reduce((sum, one) => sum + one.share, 0);
  const cells = ({ head, share: part, key }) => [el("span", {}, `head ${head}`), el("span", { class: "bx-flow-track" }, bar(part, Math.abs(sorted[0].share))),
    el("span", {}, `${signedPercent(part)}${key == null ? "" : `, from ${name(key)}`}`)];
  return [
    ...sorted.slice(0, HEADS).map((one) => alone ? el("div", { class: "bx-flow-of-head" }, ...cells(one)) :
      el("details", { name: "bx-flow-head" },
        el("summary", { "data-head": `${layer}.${one.head}` }, ...cells(one)),
        el("p", {}, host.page && act("inside this head →", { inside: [layer, one.head] }), act("switch it off", { off: [layer, one.head] }),
          route ? act("cut it here", { cut: [layer, ...route, one.head] }) : null))),
    others.length ? el("p", {}, `the other ${others.length}: ${signedPercent(rest)}`) : null,
  ];
}

function layerCard({ layer, row, kept, heads, takes, neurons, why, guess, moved }, at) {
  const { tokens, alone } = at;
  const top = Math.max(...(neurons ?? []).map((one) => Math.abs(one.effect)), 1e-9);
  const parts = [
    el("header", {}, el("b", {}, `Layer ${layer}, for “${tokens[row]}”`), act("✕", { close: true }, { "aria-label": "Fold the layer" })),
    el("h3", {}, "1 · look around"),
    el("p", {}, `It keeps ${percent(kept)} of itself and takes most from: `, ...takes.flatMap(([key, part]) => {
      const told = `${tokens[key]} ${percent(part)}`;
      return [alone ? el("span", {}, told) : act(told, { route: [layer - 1, row, key] }), " "];
    })),
    ...headsOf(heads, layer, null, at),
    el("h3", {}, "2 · add & norm"),
    el("p", {}, "What the heads bring is added to what was there, and brought back to a common scale."),
    el("h3", {}, "3 · think"),
    el("p", {}, why || (neurons?.length ? `The neurons that move the final guess here, “${guess}”, most: what it would lose without each alone.` : "The feed-forward part works on this token by itself.")),
    ...(neurons ?? []).map(({ neuron, effect, words }) => el("div", { class: "bx-flow-neuron" }, el("span", {}, `neuron ${neuron}`), el("span", { class: "bx-flow-track" }, bar(effect, top)),
      el("span", {}, `${effect > 0 ? "+" : "−"}${percent(Math.abs(effect))}`), el("small", {}, words.length ? `promotes ${words.join(", ")}` : ""))),
    el("h3", {}, "4 · add & norm"),
    el("p", {}, `The layer has turned its vector by ${moved.toFixed(2)} (1 − cosine, 0 to 2).`),
  ];
  return el("div", { class: "bx-flow-card bx-flow-layer", role: "region", tabindex: "-1", "aria-label": `inside layer ${layer}` }, ...parts);
}

function routeCard({ layer, query, key, share: part, heads, cut }, at) {
  const { tokens, alone } = at;
  const name = (row) => `“${tokens[row]}”`;
  const own = query === key;
  const title = own ? `Layer ${layer}: ${name(query)} keeps ${percent(part)} of itself` : `Layer ${layer}: ${name(query)} takes ${percent(part)} from ${name(key)}`;
  return el("div", { class: "bx-flow-card bx-flow-route", role: "region", tabindex: "-1", "aria-label": title },
    el("header", {}, el("b", {}, title), act("✕", { close: true }, { "aria-label": "Close" })),
    own || alone ? null : el("p", {}, act(cut ? "put it back" : "✂ cut this route", { cut: [layer, query, key, 0] })),
    el("h3", {}, "by its heads"), ...headsOf(heads, layer, own ? null : [query, key], at));
}
