// Many points on a canvas: they glide from their former places, and a zoom moves none of them.
import { el } from "./dom.js";

const GLIDE = 450; // ms
const still = matchMedia("(prefers-reduced-motion: reduce)");

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
    const made = new Map();
    return now.map((point) => {
      const key = `${point.colour} ${point.wide} ${point.ring}`;
      if (!made.has(key)) made.set(key, stamp(point, sharp));
      return made.get(key);
    });
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
    show(now, key, room) {
      sharp = Math.min(2, devicePixelRatio || 1);
      canvas.width = Math.round(room.width * sharp);
      canvas.height = Math.round(room.height * sharp);
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
