// Labels: as Plotly wants them, as people read them, and cut to a width.

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
