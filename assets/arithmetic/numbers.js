// Numbers in words.

/** A share in percent: whole above ten, else with one decimal; never 0 or 100% unless it is exact. `share` is 0 to 1. */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1%";
  if (share >= 0.9995 && share < 1) return ">99.9%";
  return `${share >= 0.0995 || share === 0 ? Math.round(100 * share) : (100 * share).toFixed(1)}%`;
}

/** A text whose negative numbers have a minus sign, as in print, instead of a hyphen. */
export const printed = (text) => text.replace(/(?<![\p{L}\p{N}])-(?=\d)/gu, "−");

/** A share from -1 to 1 in percent, with a minus sign as printed. */
export const signedPercent = (share) => `${share < 0 ? "−" : ""}${percent(Math.abs(share))}`;
