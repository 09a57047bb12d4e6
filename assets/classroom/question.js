// The question of a round, as the board and the phones show it.
import { el } from "../shared/dom.js";

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
