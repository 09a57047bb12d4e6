// Where the names of points go, so that none covers another or a point.

const OFFSETS = [[11, 0, 0], [-11, 0, 1], [0, -14, 0.5], [0, 14, 0.5], [10, -11, 0], [-10, -11, 1], [10, 11, 0],
  [-10, 11, 1], [0, -26, 0.5], [0, 26, 0.5], [10, -24, 0], [-10, -24, 1], [10, 24, 0], [-10, 24, 1]]; // x, y, and the part of the name that is left of it

const overlap = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

/**
 * The middle left of each name, or null where there is no free place; `short` where only its short form has one. `points` {x, y, width,
 * short} have the width of their names and of a short form, the most important first; `high` is that of a line.
 */
export function placeNames(points, room, high, radius) {
  const taken = points.map(({ x, y }) => ({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }));
  return points.map(({ x, y, width, short = width }) => {
    for (const wide of short < width ? [width, short] : [width]) {
      for (const [across, down, part] of OFFSETS) {
        const left = x + across - part * wide;
        const box = { left, right: left + wide, top: y + down - high / 2, bottom: y + down + high / 2 };
        if (box.left < 0 || box.right > room.width || box.top < 0 || box.bottom > room.height) continue;
        if (taken.some((other) => overlap(box, other))) continue;
        taken.push(box);
        return { x: left, y: y + down, short: wide < width };
      }
    }
    return null;
  });
}

/** The corners of the smallest convex shape around points [x, y], counter-clockwise (Andrew 1979). */
export function hull(points) {
  const sorted = [...points].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  if (sorted.length < 3) return sorted;
  const half = (walk) => {
    const edge = [];
    for (const point of walk) {
      while (edge.length > 1) {
        const [[ax, ay], [bx, by]] = [edge[edge.length - 2], edge[edge.length - 1]];
        if ((bx - ax) * (point[1] - ay) - (by - ay) * (point[0] - ax) > 0) break;
        edge.pop();
      }
      edge.push(point);
    }
    return edge.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** The class with the highest score at a place, and its share (softmax). */
export function regionAt({ origin, directions: [right, up] }, x, y) {
  const scores = origin.map((score, k) => score + x * right[k] + y * up[k]);
  const best = scores.indexOf(Math.max(...scores));
  return [best, 1 / scores.reduce((sum, score) => sum + Math.exp(score - scores[best]), 0)];
}

/** Whether a place is inside a polygon (even-odd rule). */
export function isInside(corners, [x, y]) {
  let inside = false;
  corners.forEach(([ax, ay], i) => {
    const [bx, by] = corners[(i + 1) % corners.length];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  });
  return inside;
}

/** Places [x, y] from 16 bits for each coordinate, as `pack_places` of text_map.py writes them. */
export function unpackPlaces({ data, low, high }) {
  const steps = new Uint16Array(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)).buffer);
  return Array.from({ length: steps.length / 2 }, (_, i) => [0, 1].map((axis) => low[axis] + ((high[axis] - low[axis]) * steps[2 * i + axis]) / 65535));
}
