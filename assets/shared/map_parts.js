// What the map of texts is made of: its value, its names, and the regions behind it.
import { regionAt, unpackPlaces } from "../arithmetic/placing.js";
import { el, svg } from "./dom.js";
import { css, rgb } from "./theme.js";
import { paintPixels } from "./vectors.js";

const WORDS = 3; // of a text in its name
const LETTERS = 24;
const FINE = 4; // px: a cell of the regions

/** The value as Python means it: many points come as columns, and their places packed. */
export function expand(value) {
  if (!value) return null;
  const spread = (places) => (places?.data ? unpackPlaces(places) : places);
  const frames = value.frames.map((frame) => ({ ...frame, places: spread(frame.places) }));
  if (!value.cloud) return { ...value, frames };
  const { texts, labels, rows, faint, rings, places } = value.cloud;
  const [pale, ringed, spots] = [new Set(faint), new Set(rings), spread(places)];
  const points = texts.map((text, i) => ({ text, label: labels[i], x: spots[i][0], y: spots[i][1], index: rows.length ? rows[i] : i,
    faint: pale.has(i), ring: ringed.has(i), note: "", context: ["", ""] }));
  return { ...value, frames, points };
}

/** The beginning of a text, with dots where more follows. */
export function shorten(text, words = WORDS, letters = LETTERS) {
  const first = text.split(/\s+/).slice(0, words).join(" ").slice(0, letters);
  return first === text ? text : `${first.replace(/[.,;:!?\s]+$/, "")}…`;
}

/** A word with the one before and the one after it. */
export const besideWord = ([before, word, after]) => [{ text: before.text.split(" ").slice(-2).join(" ") }, word, { text: after.text.split(" ").slice(0, 2).join(" ") }];

/** The colour of the class that a head chooses at each place, as an image. */
export function paintRegions(value, size, from) {
  const [wide, high] = [Math.ceil(size.width / FINE), Math.ceil(size.height / FINE)];
  const field = el("canvas", {});
  const colours = value.classes.map((_, k) => rgb(css(`--bx-series-${(k % 8) + 1}`)));
  const even = 1 / value.classes.length;
  paintPixels(field, wide, high, (column, row) => {
    const [best, share] = regionAt(value.regions, ...from([(column + 0.5) * FINE, (row + 0.5) * FINE]));
    return [...colours[best].slice(0, 3), 255 * (0.07 + (0.24 * (share - even)) / (1 - even))];
  });
  return svg("image", { href: field.toDataURL(), x: 0, y: 0, width: wide * FINE, height: high * FINE, preserveAspectRatio: "none" });
}
