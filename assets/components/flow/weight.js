// One weight: the query and the key as strips of numbers, their products, the sum, the softmax, and the value that is moved.
import { el } from "../../shared/dom.js";
import { hueOf } from "./layout.js";

const GLIDE = 380; // ms

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
export function sumOf(flow) {
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
