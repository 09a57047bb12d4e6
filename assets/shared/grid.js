// Buttons in a grid: layers x heads, and keyboard moves.
import { inGrid } from "../arithmetic/moves.js";
import { el } from "./dom.js";

// Fill `box` with a button for each head, row by row, and the numbers around them.
function placeHeads(box, { layers, heads }, { inside = () => [], row = null }) {
  const quiet = (tag, more, text) => el(tag, { "aria-hidden": "true", ...more }, text);
  const column = (head) => `grid-column:${head + 3}`;
  const buttons = Array.from({ length: layers * heads }, (_, i) =>
    el("button", { type: "button", style: `grid-row:${Math.floor(i / heads) + 3};${column(i % heads)}`, "data-head": `${Math.floor(i / heads) + 1}.${i % heads + 1}` }, ...inside()));
  const across = Array.from({ length: heads }, (_, h) =>
    quiet("span", { style: `grid-row:2;${column(h)}` }, String(h + 1)));
  const down = Array.from({ length: layers }, (_, l) => {
    const number = row?.(l) ?? quiet("span", {}, String(l + 1));
    number.setAttribute("style", `grid-row:${l + 3};grid-column:2`);
    return number;
  });
  const names = [quiet("em", { class: "bx-across" }, "head"), quiet("em", { class: "bx-down" }, "layer")];
  box.style.setProperty("--heads", heads);
  box.style.setProperty("--layers", layers);
  box.replaceChildren(...names, ...across, ...down, ...buttons);
  return buttons;
}

/**
 * A grid of all heads in `box`.
 * @param {{inside?: () => Node[], row?: (layer: number) => HTMLElement}} parts `inside()` makes a button's content, `row(layer)`
 *   what is shown before a row, in place of its number
 * @param {(index: number) => void} moved called after a move by keyboard
 */
export function headGrid(box, parts, moved) {
  let shape = "";
  const grid = {
    columns: 0,
    buttons: [], // row by row
    where: (index) => [Math.floor(index / grid.columns), index % grid.columns],
    indexOf: ({ target }) => grid.buttons.indexOf(target.closest("button")),
    /** Make the buttons for {layers, heads}, or none for null. Returns whether they were there. */
    make(value) {
      const next = value ? `${value.layers} x ${value.heads}` : "";
      const same = next === shape;
      shape = next;
      grid.columns = value?.heads;
      if (!value) box.replaceChildren();
      else if (!same) grid.buttons = placeHeads(box, value, parts);
      return same;
    },
    /** Name each head; `off` are those that are switched off, `noteOf([layer, head])` says more of one. */
    name(off, noteOf) {
      const gone = new Set(off?.map(String));
      return grid.buttons.map((button, i) => {
        const [layer, head] = grid.where(i);
        const [isOff, note] = [gone.has(`${layer},${head}`), noteOf([layer, head])];
        button.title = `layer ${layer + 1}, head ${head + 1}${isOff ? ", off" : ""}${note === undefined ? "" : `: ${note}`}`;
        button.ariaLabel = button.title;
        return isOff;
      });
    },
  };
  gridKeys(box, () => grid, moved);
  return grid;
}

/**
 * Keyboard moves with the focus: arrows to the next button, Home and End along the row, Page up and Page down along the column.
 * @param {() => {columns: number, buttons: HTMLElement[]}} grid the buttons, row by row
 */
export function gridKeys(box, grid, moved) {
  box.addEventListener("keydown", (event) => {
    const { columns, buttons } = grid();
    const index = buttons.indexOf(event.target.closest("button"));
    const next = inGrid(event, index, columns, buttons.length);
    if (next < 0) return;
    event.preventDefault();
    if (next === index) return;
    buttons[next].focus();
    moved(next);
  });
}
