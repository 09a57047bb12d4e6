// Where a key moves to among items in a line or a grid.

const FAR = 1e6; // cells: up to the edge
const MOVES = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
  Home: [0, -FAR], End: [0, FAR], PageUp: [-FAR, 0], PageDown: [FAR, 0],
};

export const clamp = (number, most) => Math.max(0, Math.min(most, number));

/** Whether a key is this letter, without the modifier keys of the browser. */
export const isKey = (event, letter) => event.key?.toLowerCase() === letter && !event.altKey && !event.ctrlKey && !event.metaKey;

/** The move of a key as [rows, columns]; undefined for other keys, and with a modifier key, which is the browser's. */
export const moveOf = (event) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey ? undefined : MOVES[event.key];

/** The index that a key moves to along one line of items, of which a page has `page`; -1 if the key is no move. */
export function along(event, index, count, page = 10) {
  const steps = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, Home: -FAR, End: FAR, PageUp: -page, PageDown: page };
  return index >= 0 && moveOf(event) ? clamp(index + steps[event.key], count - 1) : -1;
}

/** The index that a key moves to in a grid of `count` items, row by row; -1 if the key is no move. */
export function inGrid(event, index, columns, count) {
  const move = moveOf(event);
  if (!move || index < 0) return -1;
  const row = clamp(Math.floor(index / columns) + move[0], count / columns - 1);
  return row * columns + clamp((index % columns) + move[1], columns - 1);
}
