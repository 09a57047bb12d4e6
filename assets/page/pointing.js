// Pointing at an element of the page, once it is there and drawn; what would give an answer away is covered.
import { markSpot, unmark } from "./spots.js";

const PATIENCE = 20_000; // ms of an idle page after which we stop waiting for the element to point at
const PIECES = "tokens-pieces-cards"; // the tokens once more, with their numbers
const ABOVE = 14; // px between the bar and what is pointed at
let turn = 0; // counts the pointings: a newer one ends the wait of an older one

/** The id of what a lesson covers, "view" for everything in the open tab, "" for nothing; and whether the tokens above it are, too. */
export const covered = { id: "", row: false };

/** The element that a lesson's id names. */
export function named(id) {
  const views = [...document.querySelectorAll("#tabs [role=tabpanel] .view")];
  return id === "view" ? views.find((one) => one.offsetParent) : document.getElementById(id);
}

/**
 * Cover this and nothing else, from now on, even before it exists; assets/answers.js does it.
 * @param {string} [about] the id of what is asked about: who is to count pieces must not see them in the row
 */
export function cover(id, about = "") {
  Object.assign(covered, { id, row: id === "view" && about === PIECES });
  document.dispatchEvent(new Event("bert:covered"));
}

/**
 * Point at an element, and at nothing else.
 * @param {string | null} id of the element, null for none
 * @param {string} [under] the id of what to cover, "" for nothing
 * @param {import("./spots.js").Spot | []} [spot] what is outlined within the element; empty for all of it
 */
export async function point(id, under = "", spot = []) {
  for (const one of document.querySelectorAll("[data-pointed]")) delete one.dataset.pointed;
  unmark();
  cover(under, id ?? "");
  document.dispatchEvent(new CustomEvent("bert:moved")); // phones that follow must not see it either
  const mine = (turn += 1);
  if (!id && !under) return;
  let until = Date.now() + PATIENCE;
  const wait = () => new Promise((go) => setTimeout(go, 120));
  let element = null;
  for (await wait(); Date.now() < until && turn === mine; await wait()) {
    const lid = under ? named(under) : null;
    element = document.getElementById(id);
    if (!element || lid?.contains(element)) element = lid; // what covers it is seen
    if (document.body.dataset.busy) until = Date.now() + PATIENCE; // a head may have to be trained first
    else if (element?.getClientRects().length) break;
  }
  if (turn !== mine || !element) return;
  element.dataset.pointed = "yes";
  if (spot.length && !under) markSpot(element, spot);
  await reveal(mine, element);
  if (turn === mine && !element.getClientRects().length) point(id, under, spot); // it was that of a tab which has gone since
}

// Scroll to the element, or to what is marked within it where it is taller than the room between the bar and a sheet; and again
// while the page around it still grows, unless the user scrolls. The room is known only here, so it is not left to a scroll-margin.
async function reveal(mine, element) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const sheet = matchMedia("(max-width: 999px)").matches;
  const theirs = new AbortController();
  for (const kind of ["wheel", "touchmove", "keydown"]) addEventListener(kind, () => theirs.abort(), { signal: theirs.signal });
  for (let tries = 0; tries < 8 && turn === mine && !theirs.signal.aborted && element.getClientRects().length; tries += 1) {
    const top = document.getElementById("bar")?.getBoundingClientRect().bottom ?? 0; // the bar covers what lies under it
    const panel = sheet ? document.getElementById("lessons") : null; // a sheet at the bottom of the screen
    const bottom = panel?.getBoundingClientRect().top ?? innerHeight;
    const whole = element.getBoundingClientRect();
    const frame = whole.height > bottom - top ? (element.querySelector("[data-spot]")?.getBoundingClientRect() ?? whole) : whole;
    if (!element.closest("#bar") && (frame.top < top || frame.bottom > bottom)) {
      const above = sheet || frame.height > 0.7 * bottom ? ABOVE : (bottom - top - frame.height) / 2;
      scrollBy({ top: frame.top - top - above, behavior: calm ? "auto" : "smooth" });
    }
    await new Promise((go) => setTimeout(go, 700));
  }
  theirs.abort();
}
