// @ts-check
// Numbers in words.

/**
 * A share in percent: whole above ten, else with one decimal; never 0 or 100% unless it is exact.
 * @param {number} share 0 to 1
 */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1%";
  if (share >= 0.9995 && share < 1) return ">99.9%";
  return `${share >= 0.0995 || share === 0 ? Math.round(100 * share) : (100 * share).toFixed(1)}%`;
}

/**
 * A share from -1 to 1 in percent, with a minus sign as printed.
 * @param {number} share
 */
export function signedPercent(share) {
  return `${share < 0 ? "−" : ""}${percent(Math.abs(share))}`;
}

/**
 * A number in one of the formats that our Plotly figures use (those of d3): ".2f", "+.3f", ".1%", ".3g", or none.
 * @param {number} value
 * @param {string} [format]
 */
export function formatted(value, format) {
  const [, sign, digits, kind] = format?.match(/^(\+?)\.?(\d*)([f%g]?)$/) ?? [];
  const text = kind === "%" ? `${(100 * value).toFixed(+digits)}%` : kind === "f" ? value.toFixed(+digits) : String(+value.toPrecision(+digits || 4));
  return sign && value > 0 ? `+${text}` : text;
}

/**
 * As many ticks as have room: every first, second, fifth, tenth …
 * @template T
 * @param {T[]} ticks
 * @param {number} room px of the axis
 * @param {number} least px that a tick needs
 * @returns {T[]}
 */
export function thinned(ticks, room, least) {
  const wanted = Math.max(1, (ticks.length * least) / room);
  const ten = 10 ** Math.floor(Math.log10(wanted));
  const every = [1, 2, 5, 10].map((step) => step * ten).find((step) => step >= wanted) ?? 10 * ten;
  return ticks.filter((_, i) => i % every === 0);
}

/**
 * The order of two cells of a table: numbers rise, texts fall, so that the first click on a heading sorts texts from A.
 * @param {string | number} a
 * @param {string | number} b
 */
export function compareCells(a, b) {
  return Number.isNaN(Number(a)) || Number.isNaN(Number(b)) ? String(b).localeCompare(String(a)) : Number(a) - Number(b);
}
