// Pointing at an element of the page, once it is there and drawn; what would give an answer away is covered.
import { markSpot, unmark } from "./spots.js";

const PATIENCE = 20_000; // ms of an idle page after which we stop waiting for the element to point at
const ABOVE = 14; // px between the bar and what is pointed at
let turn = 0; // counts the pointings: a newer one ends the wait of an older one

/** The id of what is covered, set before the element exists; "" for nothing. */
export const covered = { id: "" };

/**
 * The element that a lesson's id names: "view" is everything in the open tab.
 * @param {string} id
 */
export function named(id) {
  const views = [...document.querySelectorAll("#tabs [role=tabpanel] .view")];
  return id === "view" ? views.find((one) => one.offsetParent) : document.getElementById(id);
}

// Cover this element, if any, and no other: while the page is on its way, "view" may belong to the previous tab.
function coverOnly(element) {
  for (const one of document.querySelectorAll("[data-covered]")) {
    if (one === element) return;
    delete one.dataset.covered;
    one.inert = false;
  }
  if (element) [element.dataset.covered, element.inert] = ["yes", true];
  // Blurs what would give the answer away elsewhere on the page. A rule `body:has([data-covered])` would restyle the page at
  // every label that Plotly measures.
  document.body.toggleAttribute("data-covering", Boolean(element));
  document.body.toggleAttribute("data-covering-cards", Boolean(element?.matches(".view") && element.querySelector("#tokens-pieces-cards")));
}

/**
 * Point at an element, and at nothing else.
 * @param {string | null} id of the element, null for none
 * @param {string} [cover] the id of what to cover, "" for nothing
 * @param {import("./spots.js").Spot | []} [spot] what is outlined within the element; empty for all of it
 */
export async function point(id, cover = "", spot = []) {
  for (const one of document.querySelectorAll("[data-pointed]")) delete one.dataset.pointed;
  unmark();
  coverOnly(null);
  covered.id = cover;
  document.dispatchEvent(new CustomEvent("bert:moved")); // phones that follow must not see it either
  const mine = (turn += 1);
  if (!id && !cover) return;
  let until = Date.now() + PATIENCE;
  const wait = () => new Promise((go) => setTimeout(go, 120));
  let element = null;
  for (await wait(); Date.now() < until && turn === mine; await wait()) {
    if (cover) coverOnly(named(cover)); // before its numbers are seen
    element = document.getElementById(id);
    if (document.body.dataset.busy) until = Date.now() + PATIENCE; // a head may have to be trained first
    else if (element?.getClientRects().length) break;
  }
  if (turn !== mine || !element) return;
  element.dataset.pointed = "yes";
  if (spot.length && !cover) markSpot(element, spot);
  reveal(mine, element.closest("[data-covered]") ?? element);
}

// Scroll to the element, or to what is marked within it where it is taller than the room between the bar and a sheet; and again
// while the page around it still grows, unless the user scrolls. The room is known only here, so it is not left to a scroll-margin.
async function reveal(mine, element) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const sheet = matchMedia("(max-width: 999px)").matches;
  const theirs = new AbortController();
  for (const kind of ["wheel", "touchmove", "keydown"]) addEventListener(kind, () => theirs.abort(), { signal: theirs.signal });
  for (let tries = 0; tries < 8 && turn === mine && !theirs.signal.aborted; tries += 1) {
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
