// What is done in the picture: a change of the run lights up layer by layer, in the order in which it travels; the last scenes are
// kept, which Share draws again as a loop. The wheel, two fingers and keys of the whole page, for the picture that is seen.
import { level } from "./layout.js";

const LAYER = 110; // ms from one layer to the next
const LIT = 700; // ms
const MOST = 6; // scenes; the first is where it began

/** Light up the boxes that changed; the bars move when the change has reached the last column. */
export function light({ root }, changed) {
  const first = Math.min(...changed.map((box) => Number(box.dataset.state)));
  const last = Math.max(...changed.map((box) => Number(box.dataset.state)));
  const [lit, outlineOffset] = ["3px solid var(--bx-negative)", "1px"];
  const frames = [{ color: "transparent", outline: lit, outlineOffset }, { outline: lit, outlineOffset, offset: 0.35 }, { outline: "3px solid transparent", outlineOffset }];
  for (const box of changed) box.animate(frames, { duration: LIT, delay: LAYER * (Number(box.dataset.state) - first), fill: "backwards" });
  const wave = changed.length ? LAYER * (last - first) : 0;
  root.style.setProperty("--wave", `${wave}ms`);
  setTimeout(() => root.style.removeProperty("--wave"), wave + LIT);
}

/** Keep the order in which changes were made: they arrive sorted. */
export function remember(made, changes) {
  const now = changes.map(({ undo }) => JSON.stringify(undo));
  const kept = made.filter((one) => now.includes(one));
  return [...kept, ...now.filter((one) => !kept.includes(one))];
}

const finding = () => document.querySelector("gradio-app #overview-finding p")?.textContent ?? "";

/** Note the scene that is drawn, once all of it is there; other words begin again. */
export function note({ root, value, target, zoom, snapped }) {
  const scenes = (root.scenes ??= []);
  const last = scenes.at(-1);
  const changes = JSON.stringify(value.changes ?? []);
  if (zoom && !(zoom.layer && (level({ zoom }) < 3 || zoom.weight))) return;
  if (snapped && last && changes !== last.changes) return; // its routes are still those from before
  const key = JSON.stringify([value.tokens, target, zoom?.at, snapped, changes]);
  const isOther = last && String(last.value.tokens) !== String(value.tokens) && changes + last.changes === "[][]";
  const said = snapped ? finding() : (key === last?.key && last.said) || "";
  if (isOther) scenes.length = 0;
  else if (key === last?.key) scenes.pop();
  if (scenes.length === MOST) scenes.splice(1, 1);
  scenes.push({ key, changes, said, value: { ...value, target, zoom, snapped } });
}

const rootSeen = () => [...document.querySelectorAll("gradio-app .bx-flow")].find((one) => one.scenes?.length && one.checkVisibility());

/** The scenes of the picture that is seen, each with the sentence above it; none where no picture is. */
export function scenesSeen() {
  const scenes = rootSeen()?.scenes ?? [];
  return scenes.map((one) => (one === scenes.at(-1) ? { ...one, said: finding() } : one)).filter(({ said }) => said);
}

// Keep the sentence above a scene when there is a gesture: the answer may change the sentence before its own scene is drawn.
function keepSentence() {
  const last = rootSeen()?.scenes.at(-1);
  if (last && !last.value.snapped) last.said = finding();
}
for (const gesture of ["pointerdown", "keydown", "input"]) addEventListener(gesture, keepSentence, true);

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
