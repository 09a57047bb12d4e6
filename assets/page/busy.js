// Whether calls are running: a line over the page, placeholders in views that are seen for the first time.

const PATIENCE = 20_000; // ms to wait for what should have come
const SETTLING = 8_000; // ms after which the page counts as settled

/** `working`: the number of running calls. */
export const busyState = { working: 0 };

/**
 * Work began: the style sheet shows a line after a short delay, so that quick answers do not blink.
 * @returns {T} the same, for a listener of Gradio
 */
export function busy(values) {
  busyState.working += 1; // calls often start another before they end
  document.body.dataset.busy = "yes";
  awaitViews();
  return values;
}

/** Work ended. */
export function done() {
  busyState.working = Math.max(0, busyState.working - 1);
  if (busyState.working) return;
  delete document.body.dataset.busy;
  const seen = [...document.querySelectorAll(".view")].filter((view) => view.offsetParent);
  const show = () => seen.forEach((view) => {
    view.dataset.seen = "yes";
    delete view.dataset.waiting;
  });
  setTimeout(() => requestAnimationFrame(show), 60); // after the layout of what came
}

/** A view seen for the first time shows placeholders, and then all of its parts at once. */
export function awaitViews() {
  for (const view of document.querySelectorAll(".view:not([data-seen])")) {
    const drawn = [...view.querySelectorAll(".bx canvas, .bx svg, .bx button")];
    const filled = drawn.some((one) => !one.closest(".bx-finding, .bx-overview")); // these two are there from the start
    if (!view.offsetParent || filled || view.dataset.waiting) continue;
    view.dataset.waiting = "yes";
    setTimeout(() => delete view.dataset.waiting, PATIENCE); // a lost connection is never reported
  }
}

/** Resolves when the page is there and idle, or after a while. */
export function quiet() {
  const until = performance.now() + SETTLING;
  return new Promise((resolve) => {
    const look = () => {
      const there = document.querySelector("gradio-app #strip:is([data-withheld], :has(.bx-token))") && !document.querySelector("#first");
      if ((there && !busyState.working) || performance.now() > until) (window.requestIdleCallback ?? setTimeout)(resolve, { timeout: 500 });
      else setTimeout(look, 50);
    };
    look();
  });
}
