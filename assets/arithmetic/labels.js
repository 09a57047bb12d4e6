// Labels and numbers: as Plotly wants them, as people read them, and cut to a width.

const NO_WIDTH = /\u200b/g; // makes equal labels of an axis distinct (explorer/ui/pictures/numbers.py)
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** A label of a figure as text. */
export const decoded = (label) => String(label).replace(NO_WIDTH, "").replace(/&(lt|gt|amp);/g, (one) => ENTITIES[one]);

/** A text as a label of a figure, in which Plotly finds no markup. */
export const encoded = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** A text that fits: the longest beginning with an ellipsis, if the whole is too wide; `wide(text)` is in the unit of `room`. */
export function shortened(text, room, wide) {
  if (wide(text) <= room) return text;
  while (text && wide(`${text}…`) > room) text = text.slice(0, -1);
  return `${text}…`;
}

/** The anchor of a heading, as GitHub and explorer/guide/pages.py make it. */
export const anchor = (text) => text.toLowerCase().replace(/[^\w -]/g, "").trim().replaceAll(" ", "-");

/** A share in percent: whole between ten and 99.5, else with one decimal; never 0 or 100% unless it is exact. `share` is 0 to 1. */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1%";
  if (share >= 0.9995 && share < 1) return ">99.9%";
  const isWhole = (share >= 0.0995 && share < 0.995) || share === 0 || share === 1;
  return `${isWhole ? Math.round(100 * share) : (100 * share).toFixed(1)}%`;
}

/** A text whose negative numbers have a minus sign, as in print, instead of a hyphen. */
export const printed = (text) => text.replace(/(?<![\p{L}\p{N}])-(?=\d)/gu, "−");

/** A share from -1 to 1 in percent, with a minus sign as printed. */
export const signedPercent = (share) => `${share < 0 ? "−" : ""}${percent(Math.abs(share))}`;
