// The window over a long input: which of its places are shown. `starts` holds the first token of each place of an axis, in
// rising order; for an axis of tokens these are 0, 1, 2 …, for an axis of words or sentences fewer.

/** The places [first, last) that a window of `size` places shows if it begins at a token, or at the next place: always as many as fit. */
export function windowFrom(starts, token, size) {
  const found = starts.findIndex((one) => one >= token);
  const first = Math.max(0, Math.min(found < 0 ? starts.length : found, starts.length - size));
  return { first, last: Math.min(first + size, starts.length) };
}

/** The first token of a window with a token in its middle, or as close to it as the end of an input of `tokens` allows. It may be below 0. */
export const windowAround = (token, tokens, size) => Math.min(token - Math.floor(size / 2), tokens - size);

/** The token at which a window of `size` places begins that is moved to a place, which may be outside of the axis. */
export const tokenAt = (starts, place, size) => starts[Math.max(0, Math.min(starts.length - size, Math.round(place)))];
