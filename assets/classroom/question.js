// The question of a round and shares of answers, as the board and the phones show them.
import { el } from "../shared/dom.js";

/** Bars of {name, share of the widest, told, right}; the board keeps the width of those with an `id`. */
export const bars = (kind, rows) => el("ol", { class: kind }, ...rows.map(({ id, name, share, told, right }) =>
  el("li", { class: right ? "bx-right" : null }, el("span", {}, name, kind === "bx-room-bars" && right ? " ✓" : null), el("i", { "data-bar": id, style: `width:${(100 * share).toFixed(1)}%` }), el("em", {}, told))));

/** The texts, with their blanks as gaps and the asked one marked. */
export function texts({ kind, texts, asked }) {
  let blank = 0; // counted through both texts
  return texts.flatMap((text, index) => {
    if (!text) return [];
    const [first, ...parts] = text.split("[MASK]");
    const nodes = parts.flatMap((part) => {
      const mine = kind === "blank" && blank === asked;
      blank += 1;
      return [el("mark", { class: mine ? "bx-gap bx-asked" : "bx-gap" }, mine ? "?" : "\u00a0"), part];
    });
    const letter = texts[1] ? el("b", { class: "bx-letter" }, index ? "B" : "A") : null;
    return [el("p", { class: "bx-asked-text" }, letter, first, ...nodes)];
  });
}
