// @ts-check
// The window over a long input: which of its places are shown. `starts` holds the first token of each place of an axis, in
// rising order; for an axis of tokens these are 0, 1, 2 …, for an axis of words or sentences fewer.

/**
 * The first place that begins at a token or after it; the number of places if there is none.
 * @param {number[]} starts
 * @param {number} token
 */
export function placeFrom(starts, token) {
  const found = starts.findIndex((one) => one >= token);
  return found < 0 ? starts.length : found;
}

/**
 * The places [first, last) that a window of `size` places shows if it begins at a token: always as many as fit.
 * @param {number[]} starts
 * @param {number} token
 * @param {number} size
 */
export function windowFrom(starts, token, size) {
  const first = Math.max(0, Math.min(placeFrom(starts, token), starts.length - size));
  return { first, last: Math.min(first + size, starts.length) };
}

/**
 * The first token of a window with a token in its middle, or as close to it as the end of the input allows. It may be below 0.
 * @param {number} token
 * @param {number} tokens of the whole input
 * @param {number} size
 */
export function windowAround(token, tokens, size) {
  return Math.min(token - Math.floor(size / 2), tokens - size);
}

/**
 * The token at which a window begins that is moved to a place, which may be outside of the axis.
 * @param {number[]} starts
 * @param {number} place
 * @param {number} size
 */
export function tokenAt(starts, place, size) {
  return starts[Math.max(0, Math.min(starts.length - size, Math.round(place)))];
}

/**
 * A position on an axis, counted within the window [first, last); what is outside lies on its edge.
 * @param {number} position
 * @param {{first: number, last: number}} window
 */
export function positionIn(position, { first, last }) {
  return Math.max(-0.5, Math.min(last - first - 0.5, position - first));
}

/**
 * The index in the whole figure of a point, or [row, column] of a cell, in the window.
 * @param {number | number[]} index
 * @param {{x?: {first: number}, y?: {first: number}}} windows
 */
export function wholeIndex(index, { x, y }) {
  return Array.isArray(index) ? [index[0] + (y?.first ?? 0), index[1] + (x?.first ?? 0)] : index + (x?.first ?? 0);
}
