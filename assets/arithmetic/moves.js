// @ts-check
// Where a key moves to among items in a line or a grid.

const FAR = 1e6; // cells: up to the edge
/** @type {Record<string, [number, number]>} */
const MOVES = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
  Home: [0, -FAR], End: [0, FAR], PageUp: [-FAR, 0], PageDown: [FAR, 0],
};

/** @typedef {{key: string, altKey?: boolean, ctrlKey?: boolean, metaKey?: boolean, shiftKey?: boolean}} Key */

/** @param {number} number @param {number} most */
export function clamp(number, most) {
  return Math.max(0, Math.min(most, number));
}

/** The move of a key as [rows, columns]; undefined for other keys, and with a modifier key, which is the browser's. @param {Key} event */
export function moveOf(event) {
  return event.altKey || event.ctrlKey || event.metaKey || event.shiftKey ? undefined : MOVES[event.key];
}

/**
 * The index that a key moves to along one line of items; -1 if the key is no move.
 * @param {Key} event
 * @param {number} index
 * @param {number} count
 * @param {number} page the items of a page
 */
export function along(event, index, count, page = 10) {
  /** @type {Record<string, number>} */
  const steps = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, Home: -FAR, End: FAR, PageUp: -page, PageDown: page };
  return index >= 0 && moveOf(event) ? clamp(index + steps[event.key], count - 1) : -1;
}

/**
 * The index that a key moves to in a grid of `count` items, row by row; -1 if the key is no move.
 * @param {Key} event
 * @param {number} index
 * @param {number} columns
 * @param {number} count
 */
export function inGrid(event, index, columns, count) {
  const move = moveOf(event);
  if (!move || index < 0) return -1;
  const row = clamp(Math.floor(index / columns) + move[0], count / columns - 1);
  return row * columns + clamp((index % columns) + move[1], columns - 1);
}
