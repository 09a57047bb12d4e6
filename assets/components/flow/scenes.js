// What was just done in the picture: its last scenes, which Share draws again as a loop.
import { level } from "./layout.js";

const MOST = 6; // scenes; the first is where it began

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
  if (isOther) scenes.length = 0;
  else if (key === last?.key) scenes.pop();
  else if (last && !last.value.snapped) last.said = finding();
  if (scenes.length === MOST) scenes.splice(1, 1);
  scenes.push({ key, changes, said: snapped ? finding() : "", value: { ...value, target, zoom, snapped } });
}

/** The scenes of the picture that is seen, the last with the sentence that is above it now; none where no picture is. */
export function scenesSeen() {
  const root = [...document.querySelectorAll("gradio-app .bx-flow")].find((one) => one.scenes?.length && one.checkVisibility());
  return (root?.scenes ?? []).map((one, n, all) => (n < all.length - 1 ? one : { ...one, said: finding() }));
}
