// Have what is open drawn by the server: one drawing at a time, the latest wish last, slow parts when nobody types on.
import { busy, done, startReading, typingState } from "./typing.js";

const LULL = 60; // ms after a picture was drawn until the rest of it is requested
const MOUNTING = 2_000; // ms for the browser to mount what was sent
const PATIENCE = 20_000; // ms to wait for what should have come

/** By name: asks the server to draw a choice of a tab, or ("") a tab that is not built, or to "read" the texts. */
export const pulses = new Map();
const asked = new Map(); // when each pulse that is not there yet was requested, by name

export const drawingState = {
  drawing: 0, // until when we wait for the drawing under way; 0 for none
  at: null, // the tab and choice last requested
  wish: null, // what the user chose since the last request
  left: null, // name of the pulse whose drawing left something out, until the rest is there,
  resting: 0, // when the rest is requested, or until when we wait for it,
  asksRest: false, // and whether it was requested
};

/** Choose something for the next drawing. */
export const wish = (chosen) => (drawingState.wish = { ...drawingState.wish, ...chosen });

/** Have what is open drawn, with what the user chose. One drawing at a time: a request made meanwhile is sent when the answer is there. */
export function draw(chosen = {}) {
  const { tab, choice } = place();
  document.dispatchEvent(new CustomEvent("bert:asks", { detail: { chosen, at: { tab, choice } } }));
  wish(chosen);
  if (drawingState.drawing) return;
  const names = [`${tab}/${choice}`, ""];
  const name = names.find((one) => pulses.has(one) || performance.now() - (asked.get(one) ?? -Infinity) < MOUNTING); // or asked for a moment ago
  const pulse = pulses.get(name);
  if (!pulse) {
    if (name !== undefined) setTimeout(() => drawingState.wish && draw(), 30); // it was sent, and is being mounted
    return;
  }
  for (const one of names.slice(0, names.indexOf(name))) asked.set(one, performance.now());
  drawingState.at = { tab, choice };
  drawingState.drawing = setTimeout(drawn, PATIENCE);
  busy();
  forgetRest();
  const index = { ...drawingState.wish, tab };
  drawingState.wish = null;
  pulse("select", { index, value: "" });
}

/** The drawing is there. */
export function drawn() {
  if (!drawingState.drawing) return;
  clearTimeout(drawingState.drawing);
  drawingState.drawing = 0;
  document.dispatchEvent(new Event("bert:drawn"));
  done();
  const { tab, choice } = place();
  const elsewhere = tab !== drawingState.at.tab || (drawingState.at.choice && choice !== drawingState.at.choice); // the server went elsewhere meanwhile
  if (drawingState.wish || elsewhere) draw();
  else setTimeout(() => drawingState.left || delete document.body.dataset.more);
}

/**
 * A drawing was made at once, without the slow parts of the pulse `name`. They are requested when the picture is seen and nobody types
 * on; until then, what is left of the text before is pale.
 */
export function more(name) {
  if (!drawingState.left) busy();
  drawingState.left = name;
  drawingState.asksRest = false;
  document.body.dataset.more = "yes";
  awaitLull();
}

function awaitLull() {
  clearTimeout(drawingState.resting);
  drawingState.resting = setTimeout(() => {
    if (drawingState.drawing || typingState.reading || typingState.tell || drawingState.wish) return awaitLull();
    drawingState.asksRest = true;
    drawingState.resting = setTimeout(finished, PATIENCE);
    pulses.get(drawingState.left)("rest", { index: 0, value: "" });
  }, LULL);
}

/** The rest is there, or the server gave it up for a newer call. */
export function finished() {
  if (!drawingState.asksRest) return; // it belongs to an earlier picture
  delete document.body.dataset.more;
  forgetRest();
}

function forgetRest() {
  if (!drawingState.left) return;
  clearTimeout(drawingState.resting);
  drawingState.left = null;
  drawingState.asksRest = false;
  done();
}

/** The id of a tab. */
export const idOf = (button) => button?.id.replace(/^tab-|-button$/g, "") ?? "";

/** The open tab, and its open choice. */
export function place() {
  const tab = idOf(document.querySelector('#tabs [role=tab][aria-selected="true"]'));
  const choice = document.querySelector(`#${tab}-view input:checked`)?.closest("label").textContent.trim();
  return { tab, choice: choice ?? [...pulses.keys()].find((name) => name.startsWith(`${tab}/`))?.slice(tab.length + 1) };
}

/** Have the texts read that an answer has put into the boxes. */
export const read = () => pulses.get("read")("select", { index: 0, value: "" });

/** The strip has its own listener; what is open is requested at the same time. */
export function asking(values) {
  startReading();
  draw({ at_once: true });
  return busy(values);
}

/** Open a tab, and one of its choices. */
export function open(title, choice) {
  const tab = [...document.querySelectorAll("#tabs [role=tab]")].find((one) => one.textContent.trim() === title);
  tab?.click();
  const until = performance.now() + PATIENCE;
  const choose = () => { // a tab is built on its first opening
    const labels = [...document.querySelectorAll(`#${idOf(tab)}-view label`)];
    const found = labels.find((label) => label.textContent.trim() === choice);
    if (found) found.click();
    else if (performance.now() < until) requestAnimationFrame(choose);
  };
  if (choice) requestAnimationFrame(choose);
  document.querySelector("#tabs")?.scrollIntoView({ block: "start" });
}

/** Have a tab drawn that the user opens; a tab that the server opens comes with its content. */
export function listenToTabs() {
  document.addEventListener("click", ({ target }) => target.closest("#tabs [role=tab]") && requestAnimationFrame(() => draw()));
}
