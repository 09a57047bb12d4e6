// Long inputs: a window of tokens that all pictures share, and overviews in which it is dragged. Rows (queries) and columns
// (keys) have a window each; the two move together until one is dragged by itself.
import { inCss } from "../arithmetic/colour.js";
import { tokenAt, windowAround, windowFrom } from "../arithmetic/windows.js";
import { el } from "../shared/dom.js";
import { background, callAll, paintPixels } from "../shared/theme.js";

const phone = matchMedia("(max-width: 640px)");
const pictures = new Set(); // redraw when a window has moved, and
const watchers = new Set(); // mark the visible tokens
const start = { query: 0, key: 0 }; // the first token of each window
const shownBy = { query: [0, 0], key: [0, 0] }; // the tokens [start, end) shown by the picture drawn last
let input = { tokens: 0 };
let inputs = 0; // number of inputs so far
let byHand = false; // whether the user placed the windows
const waiting = new Set();

export const size = () => (phone.matches ? 11 : 24);

// Call fn, at most once a frame, when a window has moved, as long as `owner` is on the page.
export const follow = (fn, owner) => pictures.add({ fn, owner });

// The same, also when a picture shows other tokens.
export const watch = (fn, owner) => watchers.add({ fn, owner });

function tell(listeners) {
  if (waiting.has(listeners)) return;
  waiting.add(listeners);
  requestAnimationFrame(() => {
    waiting.delete(listeners);
    callAll(listeners);
  });
}

const tellAll = () => [pictures, watchers].forEach(tell);

function move(to) {
  const before = String(Object.values(start));
  for (const [side, place] of Object.entries(to)) {
    start[side] = Math.max(0, Math.round(place));
    shownBy[side] = [start[side], start[side] + size()];
  }
  if (String(Object.values(start)) !== before) tellAll();
}

// A picture shows the tokens [from, to): more than the window if its places are words or sentences.
function sees(side, from, to) {
  if (String(shownBy[side]) === `${from},${to}`) return;
  shownBy[side] = [from, to];
  tell(watchers); // not the pictures: two of them may show different parts
}

// The start of a window that has a token in its middle.
const around = (token) => windowAround(token, input.tokens, size());

// The tokens [start, end) that the picture drawn last shows of a side, "query" or "key".
export const seen = (side) => shownBy[side];

// Start with a new input: both windows around `token`.
export function open(tokens, token) {
  input = { tokens };
  inputs += 1;
  byHand = false;
  const first = around(token);
  move({ query: first, key: first });
  tellAll();
}

// Move each window that does not show its token around it.
function showEach(tokens) {
  const hidden = Object.entries(tokens).filter(([side, token]) => token < shownBy[side][0] || token >= shownBy[side][1]);
  move(Object.fromEntries(hidden.map(([side, token]) => [side, around(token)])));
}

// Show a token that was chosen, here or elsewhere.
export function show(token, here = false) {
  byHand ||= here;
  showEach({ query: token, key: token });
}

// The places [first, last) of an axis to show; `tokens` are its places' first tokens. Always as many as fit.
export const range = (tokens, side = "query") => windowFrom(tokens, start[side], size());

phone.addEventListener("change", tellAll);

// ---- The overview of a picture.

const STEPS = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowUp: ["y", -1], ArrowDown: ["y", 1] };

// `axes` holds the first tokens of the columns (x) and rows (y); a short axis is left out.
function overview() {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const frame = el("div", { class: "bx-frame" });
  const map = el("div", { class: "bx-map", role: "slider", tabindex: "0", "aria-label": "the part of the input that is shown" }, canvas, frame);
  const caption = el("p", {});
  const root = el("div", { class: "bx-overview" }, el("div", { class: "bx-map-box" }, map), caption);
  let axes = {};
  let painted = () => {}; // repeats the last drawing
  let grip = null; // the offset of the pointer in the dragged frame, in places
  let telling = null; // the place { x, y } that the picture points out, and
  let pointed = ""; // the one shown last

  const names = () => Object.keys(axes);
  const sides = (name) => (names().length > 1 ? [name === "x" ? "key" : "query"] : ["query", "key"]);
  const all = (place) => Object.fromEntries(names().map((name) => [name, place(name)]));
  const ranges = () => all((name) => range(axes[name], sides(name)[0]));

  // Move the window to begin at a place of each axis.
  function put(places) {
    byHand = true;
    move(Object.fromEntries(Object.entries(places).flatMap(([name, place]) => sides(name).map((side) => [side, tokenAt(axes[name], place, size())]))));
  }

  // Scroll to a place { x, y } once, unless the user is dragging the window.
  function point(place) {
    telling = place;
    const now = `${inputs} ${JSON.stringify(place ?? null)}`;
    if (now === pointed || !map.offsetParent) return;
    pointed = now;
    if (!place || byHand) return;
    showEach(Object.fromEntries(names().flatMap((name) => sides(name).map((side) => [side, axes[name][place[name]]]))));
  }

  const end = ({ last }, tokens) => (last < tokens.length ? tokens[last] : Math.max(input.tokens, tokens.at(-1) + 1));
  const words = (now, tokens) => `${tokens[now.first]} to ${end(now, tokens) - 1}`;

  function place() {
    const now = ranges();
    for (const [name, { first, last }] of Object.entries(now)) {
      const [from, length] = name === "x" ? ["left", "width"] : ["top", "height"];
      const all = axes[name].length;
      frame.style[from] = `${(100 * first) / all}%`;
      frame.style[length] = `${(100 * (last - first)) / all}%`;
      if (map.offsetParent) for (const side of sides(name)) sees(side, axes[name][first], end({ last }, axes[name]));
    }
    const told = all((name) => words(now[name], axes[name]));
    const total = Math.max(input.tokens, ...names().map((name) => axes[name].at(-1) + 1));
    const same = names().length < 2 || told.x === told.y;
    const text = same ? `Tokens ${told.x ?? told.y} of ${total}` : `Rows: tokens ${told.y}. Columns: tokens ${told.x}, of ${total}`;
    caption.replaceChildren(el("b", {}, `${text}.`), " Drag the frame, or use the arrow keys.");
    const main = axes.y ?? axes.x;
    Object.assign(map, { ariaValueMin: 0, ariaValueMax: main[Math.max(0, main.length - size())], ariaValueNow: main[(now.y ?? now.x).first],
      ariaValueText: text, ariaOrientation: axes.x ? "horizontal" : "vertical" });
  }

  // Show the picture along these axes, drawn by paint(canvas, width, height) in CSS pixels.
  function draw(shown, paint) {
    axes = shown;
    place();
    painted = () => map.clientWidth && paint(canvas, map.clientWidth, map.clientHeight);
    painted();
  }
  new ResizeObserver(() => painted()).observe(map); // it may have been hidden

  function held(event) {
    const box = map.getBoundingClientRect();
    const at = { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
    return all((name) => at[name] * axes[name].length);
  }

  function drag(event) {
    const at = held(event);
    put(all((name) => at[name] - grip[name]));
  }

  map.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const [at, now] = [held(event), ranges()];
    const inside = names().every((name) => at[name] >= now[name].first && at[name] <= now[name].last);
    grip = all((name) => (inside ? at[name] - now[name].first : (now[name].last - now[name].first) / 2));
    map.setPointerCapture(event.pointerId);
    drag(event);
  });
  map.addEventListener("pointermove", (event) => grip && drag(event));
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) map.addEventListener(end, () => (grip = null));
  map.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const now = ranges();
    const [axis, sign] = STEPS[event.key] ?? [];
    const main = axes[axis] ? axis : names()[0];
    const step = event.shiftKey ? 1 : Math.ceil(size() / 4);
    const far = { PageUp: (name) => 2 * now[name].first - now[name].last, PageDown: (name) => now[name].last, Home: () => 0, End: (name) => axes[name].length };
    if (!axis && !far[event.key]) return;
    event.preventDefault();
    put(axis ? { [main]: now[main].first + sign * step } : all(far[event.key]));
  });
  follow(() => {
    if (!names().length) return;
    place();
    if (names().every((name) => axes[name].at(-1) < input.tokens)) point(telling); // the strip may come after the picture
  }, root);
  return { root, draw, ranges, point };
}

/**
 * Place the overview of a picture around its `box` while it is long; `moved` draws what the window shows. The function that it returns
 * gives both a class, "" for a picture that is not long, and returns the overview or null.
 */
export function overviewOf(box, moved) {
  let made = null;
  return (look, height = "") => {
    if (!look && !made) return null;
    if (!made) {
      made = overview();
      const both = el("div");
      box.replaceWith(both);
      both.append(made.root, box);
      follow(moved, box);
    }
    made.root.hidden = !look;
    box.parentElement.className = look;
    box.parentElement.style.height = height;
    return look ? made : null;
  };
}

// ---- Painting overviews.

// 256 colours between the stops of a scale, on the page's background.
export function colours(stops) {
  const pen = el("canvas", { width: 256, height: 1 }).getContext("2d");
  const fade = pen.createLinearGradient(0, 0, 256, 0);
  for (const [at, colour] of stops) fade.addColorStop(at, colour);
  for (const fillStyle of [inCss(background()), fade]) Object.assign(pen, { fillStyle }).fillRect(0, 0, 256, 1);
  const { data } = pen.getImageData(0, 0, 256, 1);
  return Array.from({ length: 256 }, (_, i) => data.subarray(4 * i, 4 * i + 3));
}

// Paint a matrix; level(row, column) is 0 to 255. Of cells that share a pixel, the one farthest from `calm` is shown.
export function paintMatrix({ rows, columns, level, table, calm = 0 }) {
  return (canvas, width, height) => {
    const wide = Math.max(1, Math.min(columns, Math.round(width * devicePixelRatio)));
    const high = Math.max(1, Math.min(rows, Math.round(height * devicePixelRatio)));
    const [xs, ys] = [[wide, columns], [high, rows]].map(([to, from]) => Array.from({ length: to + 1 }, (_, i) => Math.floor((i * from) / to)));
    canvas.style.imageRendering = wide < columns || high < rows ? "auto" : "pixelated";
    paintPixels(canvas, wide, high, (x, y) => {
      let most = calm;
      for (let row = ys[y]; row < ys[y + 1]; row++) {
        for (let column = xs[x]; column < xs[x + 1]; column++) {
          const one = level(row, column);
          if (Math.abs(one - calm) > Math.abs(most - calm)) most = one;
        }
      }
      return table[Math.round(Math.max(0, Math.min(255, most)))];
    });
  };
}
