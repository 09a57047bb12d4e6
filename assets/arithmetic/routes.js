// Which routes through the layers end in a place: rows of the mixing matrices, multiplied backwards.
// explorer/techniques/routes.py computes the same for the page that is sent first.

/** The shares of 16 bits that Python packs, as numbers from 0 to 1. */
export const sharesFrom = (bytes) => Float32Array.from(new Uint16Array(bytes.buffer), (one) => one / 65535);

/** The share of a layer's `query` that comes from `key`; `mixing` is [layers * rows * rows], layers count from 0. */
export const shareOf = (mixing, rows, layer, query, key) => mixing[(layer * rows + query) * rows + key];

/**
 * What ends in the hidden state `state` of `row`, with `mixing` [layers * rows * rows], of which each row sums to 1: by hidden state the
 * `shares` of each row, and `routes` [layer, query, key, share of the target], layers from 0, but for those of at most a `least` share.
 */
export function routesTo(mixing, rows, { state, row }, least) {
  const shares = [];
  const routes = [];
  let now = new Float64Array(rows);
  now[row] = 1;
  shares[state] = now;
  for (let layer = state - 1; layer >= 0; layer--) {
    const below = new Float64Array(rows);
    for (let query = 0; query < rows; query++) {
      if (now[query] < 1e-6) continue;
      for (let key = 0; key < rows; key++) {
        const part = now[query] * shareOf(mixing, rows, layer, query, key);
        below[key] += part;
        if (part > least) routes.push([layer, query, key, part]);
      }
    }
    shares[layer] = now = below;
  }
  return { shares, routes };
}

/** How many items two lists begin with, and how many of the rest they end with, that are the same. */
export function shared(one, other) {
  const most = Math.min(one.length, other.length);
  let head = 0;
  while (head < most && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < most - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  return { head, tail };
}

/**
 * The earlier row that each row of an edited input continues, -1 for none: an edit keeps the rows before and behind it, and a
 * word that replaces another has its row.
 */
export function continued(now, before) {
  const { tail } = shared(now, before);
  return now.map((_, row) => {
    if (row >= now.length - tail) return row - now.length + before.length;
    return row < before.length - tail ? row : -1;
  });
}
