// A drawing that the pointer moves: a drag moves it or, with Shift or while selecting, draws a lasso; wheel and two fingers zoom.

const FARTHEST = 40; // times as large
const CLICK = 4; // px that a click may move

/** What moves `node`: its `view` {x, y, k}, and functions; `lasso(corners, done)` is called while one is drawn, places are [x, y] in px. */
export function movable(node, { allowed, selecting, moved, lasso }) {
  const view = { x: 0, y: 0, k: 1 };
  let held = null; // {from, start, corners} of a drag
  let dragged = false;
  const fingers = new Map(); // [x, y] of each pointer that is down
  const apart = ([one, other = one]) => Math.hypot(one[0] - other[0], one[1] - other[1]);
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
    fingers.set(event.pointerId, spot(event));
    held = { from: spot(event), start: { ...view }, corners: event.shiftKey || selecting() ? [spot(event)] : null };
  });
  node.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [x, y] = spot(event);
    const before = apart([...fingers.values()]);
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) {
      const [one, other] = fingers.values();
      dragged = true;
      return zoom(apart([one, other]) / Math.max(before, 1), [(one[0] + other[0]) / 2, (one[1] + other[1]) / 2]);
    }
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
    fingers.clear();
  });
  return { view, zoom, spot, back: () => zoom(0, [0, 0]), clicked: () => !dragged };
}
