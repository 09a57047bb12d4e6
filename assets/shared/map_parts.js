// What the map of texts is made of: its value, its names, the regions behind it, and many points on a canvas.
import { regionAt, unpackPlaces } from "../arithmetic/placing.js";
import { el, svg } from "./dom.js";
import { css, paintPixels, rgb } from "./theme.js";

const FINE = 4; // px: a cell of the regions
const GLIDE = 450; // ms
const FARTHEST = 40; // times as large
const CLICK = 4; // px that a click may move
export const still = matchMedia("(prefers-reduced-motion: reduce)");

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
export function shorten(text, words = 3, letters = 24) {
  const few = text.split(/\s+/).slice(0, words).join(" ");
  const first = few.length > letters ? few.slice(0, letters + 1).replace(/\s+\S*$/, "").slice(0, letters) : few;
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

// ---- Many points: they glide from their former places, and a zoom moves none of them.

function stamp({ colour, wide, ring }, sharp) {
  const middle = (wide * sharp) / 2;
  const made = el("canvas", { width: Math.ceil(wide * sharp), height: Math.ceil(wide * sharp) });
  const pen = made.getContext("2d");
  const disc = (fill, share) => {
    pen.fillStyle = fill;
    pen.beginPath();
    pen.arc(middle, middle, share * middle, 0, 2 * Math.PI);
    pen.fill();
  };
  if (ring) disc(ring, 0.9);
  disc(colour, ring ? 0.6 : 0.9);
  return made;
}

/**
 * A cloud of points {place: [x, y] in px without the view, colour, wide: px, ring: its colour, "" for none} on a canvas: `show` gives
 * it points, `look` moves the view.
 */
export function cloudOn(canvas) {
  const pen = canvas.getContext("2d");
  let [points, stamps, shown] = [[], [], ""]; // what is drawn, the picture of each, and whose points they are
  let [before, began, waits] = [null, 0, 0];
  let view = { x: 0, y: 0, k: 1 };
  let sharp = 1; // pixels of the canvas in a px

  function placesNow() {
    const share = before && !still.matches ? Math.min(1, (performance.now() - began) / GLIDE) : 1;
    if (share === 1) before = null;
    if (!before) return points.map(({ place }) => place);
    const eased = 1 - (1 - share) ** 3;
    return points.map(({ place }, i) => place.map((to, axis) => before[i][axis] + eased * (to - before[i][axis])));
  }

  // One picture for all points that look the same, so that a frame draws no circle.
  function stampsOf(now) {
    const keyOf = ({ colour, wide, ring }) => `${colour} ${wide} ${ring}`;
    const made = new Map([...new Map(now.map((point) => [keyOf(point), point]))].map(([key, point]) => [key, stamp(point, sharp)]));
    return now.map((point) => made.get(keyOf(point)));
  }

  function draw() {
    waits = 0;
    pen.clearRect(0, 0, canvas.width, canvas.height);
    placesNow().forEach(([x, y], i) => {
      const middle = points[i].wide / 2;
      pen.drawImage(stamps[i], (x * view.k + view.x - middle) * sharp, (y * view.k + view.y - middle) * sharp);
    });
    if (before) soon();
  }

  const soon = () => (waits ||= requestAnimationFrame(draw));

  return {
    look(wanted) {
      view = wanted;
      soon();
    },
    // Points with another key are other points, which appear where they are.
    show(now, key, { width, height }) {
      sharp = Math.min(2, devicePixelRatio || 1);
      Object.assign(canvas, { width: Math.round(width * sharp), height: Math.round(height * sharp) });
      const same = key === shown && now.length === points.length;
      if (!same || now.some(({ place }, i) => String(place) !== String(points[i].place))) {
        before = same ? placesNow() : null;
        began = performance.now();
      }
      [points, stamps, shown] = [now, stampsOf(now), key];
      draw();
    },
  };
}

// ---- A drawing that the pointer moves: a drag moves it or, with Shift or while selecting, draws a lasso; the wheel zooms. Two fingers
// are the browser's.

/** What moves `node`: its `view` {x, y, k}, and functions; `lasso(corners, done)` is called while one is drawn, places are [x, y] in px. */
export function movable(node, { allowed, selecting, moved, lasso }) {
  const view = { x: 0, y: 0, k: 1 };
  let held = null; // {from, start, corners} of a drag
  let dragged = false;
  const spot = ({ clientX, clientY }) => {
    const box = node.getBoundingClientRect();
    return [clientX - box.left, clientY - box.top];
  };

  function zoom(by, [x, y]) {
    const k = Math.min(FARTHEST, Math.max(1, view.k * by));
    Object.assign(view, k === 1 ? { x: 0, y: 0, k } : { x: x - ((x - view.x) * k) / view.k, y: y - ((y - view.y) * k) / view.k, k });
    moved();
  }

  node.addEventListener("wheel", (event) => {
    if (!allowed() || !(event.ctrlKey || event.metaKey || document.activeElement === node)) return; // or the page scrolls
    event.preventDefault();
    zoom(Math.exp(-0.0016 * event.deltaY), spot(event));
  }, { passive: false });
  node.addEventListener("pointerdown", (event) => {
    dragged = false;
    if (!allowed() || event.button) return;
    held = { from: spot(event), start: { ...view }, corners: event.shiftKey || selecting() ? [spot(event)] : null };
  });
  node.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [x, y] = spot(event);
    const by = [x - held.from[0], y - held.from[1]];
    if (!dragged && Math.hypot(...by) < CLICK) return;
    if (!dragged) node.setPointerCapture(event.pointerId);
    dragged = true;
    held.corners?.push([x, y]);
    if (held.corners) return lasso(held.corners, false);
    if (view.k > 1) Object.assign(view, { x: held.start.x + by[0], y: held.start.y + by[1] });
    moved();
  });
  for (const end of ["pointerup", "pointercancel"]) node.addEventListener(end, ({ type }) => {
    if (type === "pointerup" && dragged && held?.corners) lasso(held.corners, true);
    held = null;
  });
  return { view, zoom, spot, back: () => zoom(0, [0, 0]), clicked: () => !dragged };
}
