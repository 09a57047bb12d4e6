// The wheel, two fingers and keys of the whole page, for the picture that is seen.

const TURN = 30; // px of the wheel that count as a step
const REST = 420; // ms: one turn of the wheel is one step
const SPREAD = 1.3; // how far two fingers go apart for a step

const isWriting = (node) => node.closest?.("input:not([type=range]), textarea, select, [contenteditable], dialog, [role=dialog]");

/** Step in and out of the picture by wheel and fingers; `into` returns whether there was a step. */
export function zoomGestures(root, { level, into, out }) {
  let rested = 0;
  root.addEventListener("wheel", (event) => {
    const up = event.deltaY < 0;
    // The page scrolls first; at its top, the wheel goes into the picture, and out of it again.
    if (!event.ctrlKey && (up ? scrollY > 0 : !level())) return;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    const waits = performance.now() < rested;
    if (!waits && Math.abs(event.deltaY) < (event.ctrlKey ? 2 : TURN)) return event.ctrlKey && event.preventDefault();
    if (waits || (up ? into(event.target) : (out(), true))) event.preventDefault();
    if (!waits) rested = performance.now() + REST;
  }, { passive: false });
  root.addEventListener("touchmove", (event) => event.touches.length > 1 && event.preventDefault(), { passive: false }); // no scroll ends a pinch
  const fingers = new Map();
  let apart = 0;
  const distance = () => { const [a, b] = fingers.values(); return Math.hypot(a.x - b.x, a.y - b.y); };
  root.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, node: event.target });
    apart = fingers.size === 2 ? distance() : 0;
  });
  root.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    Object.assign(fingers.get(event.pointerId), { x: event.clientX, y: event.clientY });
    if (!apart) return;
    const by = distance() / apart;
    if (by < SPREAD && by > 1 / SPREAD) return;
    apart = 0; // one step for each gesture
    if (by > 1) into([...fingers.values()][0].node);
    else if (level()) out();
  });
  for (const kind of ["pointerup", "pointercancel", "pointerleave"]) root.addEventListener(kind, ({ pointerId }) => fingers.delete(pointerId) && (apart = 0));
}

/**
 * Keys that work wherever the focus is, but not in a box that is typed in: Escape, Enter in the zoom, U or Ctrl Z, and X. Each
 * function of `does` returns whether it did something.
 */
export function pageKeys(root, does) {
  document.addEventListener("keydown", (event) => {
    const inside = root.contains(event.target) || event.target === document.body;
    if (event.defaultPrevented || !root.getClientRects().length || isWriting(event.target)) return;
    const key = event.key.toLowerCase();
    const bare = !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    const undo = (bare && key === "u") || (key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey);
    const done = undo ? does.undo() : bare && inside && ({ escape: does.escape, x: does.cut, enter: event.target === document.body ? does.enter : null }[key]?.() ?? false);
    if (done) event.preventDefault();
  });
}
