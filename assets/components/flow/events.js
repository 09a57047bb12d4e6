// What is done in the picture: a change of the run lights up layer by layer, in the order in which it travels; and the last scenes
// are kept, which Share draws again as a loop.
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
