// Whether calls are running: a line over the page.

const SETTLING = 8_000; // ms after which the page counts as settled

/** `working`: the number of running calls. */
export const busyState = { working: 0 };

/** Work began: the style sheet shows a line after a short delay, so that quick answers do not blink. Returns the values, for Gradio. */
export function busy(values) {
  busyState.working += 1; // calls often start another before they end
  document.body.dataset.busy = "yes";
  return values;
}

/** Work ended. */
export function done() {
  busyState.working = Math.max(0, busyState.working - 1);
  if (!busyState.working) delete document.body.dataset.busy;
}

/** Resolves when the page is there and idle, or after a while. */
export function quiet() {
  const until = performance.now() + SETTLING;
  return new Promise((resolve) => {
    const look = () => {
      const there = document.querySelector("gradio-app #strip .bx-token") && !document.querySelector("#first");
      if ((there && !busyState.working) || performance.now() > until) (window.requestIdleCallback ?? setTimeout)(resolve, { timeout: 500 });
      else setTimeout(look, 50);
    };
    look();
  });
}
