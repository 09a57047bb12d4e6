// A change of the run as an event: the line snaps, and what changed lights up layer by layer, in the order in which it travels.
const LAYER = 110; // ms from one layer to the next
const LIT = 700; // ms

/**
 * Light up the boxes that changed; the bars move when the change has reached the last column.
 * @param {import("./layout.js").Flow} flow
 * @param {HTMLElement[]} changed
 */
export function light({ root }, changed) {
  const first = Math.min(...changed.map((box) => Number(box.dataset.state)));
  const last = Math.max(...changed.map((box) => Number(box.dataset.state)));
  for (const box of changed) {
    const delay = LAYER * (Number(box.dataset.state) - first);
    box.animate([{ color: "transparent", outline: "3px solid var(--bx-negative)", outlineOffset: "1px" }, { outline: "3px solid var(--bx-negative)", outlineOffset: "1px", offset: 0.35 }, { outline: "3px solid transparent", outlineOffset: "1px" }],
      { duration: LIT, delay, fill: "backwards" });
  }
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
