// What is shown is pale from the key or click on that asks for something else, until that is there.
import { drawingState, place } from "./drawing.js";
import { told } from "./told.js";
import { typingState } from "./typing.js";

const REPORTED = 120; // ms: Gradio reports a key one frame later, and its call begins after that
const AGAIN = 60; // ms between two looks whether all is there
const PATIENCE = 20_000; // ms to wait for what should have come
const OWN = ".bx, .table-wrap, [role=combobox]"; // a use of these asks for nothing, or does so by itself
const PRESSED = "[role=option], #next-example, :is(#put-back, #suggestion) button";

let asked = 0; // counts what was asked for
let failed = false; // whether the last answer was lost: what is shown stays as old as it is
let timer = 0;
const drawn = new Map(); // by tab: its choice when it was drawn last, and what had been asked for by then
const calls = new Map(); // when each running call that was asked for began, by its number
const background = new Set(told.background); // numbers of the calls that nobody waits for

/** Something else is asked for. `input`: the input itself, rather than what is shown of it. */
export function outdate(input = false) {
  asked += 1;
  failed = false;
  if (input) document.body.dataset.unread = "yes";
  fade(input || document.body.dataset.stale === "all" ? "all" : "view");
}

function fade(what) {
  document.body.dataset.stale = what;
  clearTimeout(timer);
  timer = setTimeout(look, REPORTED);
}

function waits() {
  const { drawing, wish } = drawingState;
  const { tell, reading, arriving } = typingState;
  const begun = [...calls.values()].some((since) => performance.now() - since < PATIENCE);
  return Boolean(drawing || wish || tell || reading || arriving || begun || document.querySelector(".bx-chart[data-drawing]"));
}

// Everything that was asked for is there, or will be looked for again.
function look() {
  clearTimeout(timer);
  if (!document.body.dataset.stale || failed) return;
  if (waits()) return void (timer = setTimeout(look, AGAIN));
  const { tab, choice } = place();
  drawn.set(tab, `${choice} ${asked}`);
  calls.clear();
  delete document.body.dataset.stale;
  delete document.body.dataset.unread;
}

const ofTabs = (target) => Boolean(target.closest("#tabs"));

/** Listen to what people type and choose, and to the calls of the page. */
export function watchOutdated() {
  document.addEventListener("input", ({ target }) => target.closest("gradio-app") && !target.closest(OWN) && outdate(!ofTabs(target)), { capture: true });
  // The pictures of the choice before are below the new one's title.
  document.addEventListener("change", ({ target }) => target.closest(".choices") && document.body.toggleAttribute("data-elsewhere", true));
  for (const kind of ["mousedown", "click"]) { // before the list is gone, and by keyboard
    document.addEventListener(kind, ({ target }) => target.closest(PRESSED) && outdate(!ofTabs(target)), { capture: true });
  }
  document.addEventListener("bert:asks", ({ detail: { chosen, at } }) => {
    if (Object.keys(chosen).length) outdate(Boolean(chosen.at_once));
    else if (drawn.get(at.tab) !== `${at.choice} ${asked}`) fade(document.body.dataset.stale ?? "view");
  });
  document.addEventListener("bert:read", () => typingState.tell || delete document.body.dataset.unread);
  document.addEventListener("bert:drawn", () => {
    document.body.removeAttribute("data-elsewhere");
    requestAnimationFrame(look);
  });
  document.addEventListener("bert:call", ({ detail: { number, stage } }) => {
    if (background.has(number) || !document.body.dataset.stale) return;
    if (stage === "pending") return void calls.set(number, calls.get(number) ?? performance.now());
    calls.delete(number);
    failed ||= stage === "error";
    requestAnimationFrame(look);
  });
}
