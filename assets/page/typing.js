// When what is typed or chosen is sent to the server, and whether calls are running: a line over the page.

/** ms after the last key until a text is read, one reading at a time: a held key repeats every 33 ms. */
export const PAUSE = 36;
const PATIENCE = 20_000; // ms to wait for what should have come

export const typingState = {
  tell: null, // sends what was typed and not sent yet
  timer: 0, // the timer of the next reading
  reading: 0, // the timeout of the current reading of a text, 0 for none
  keyed: 0, // when a key was last pressed
  menu: null, // the dropdown in use, and
  shown: "", // its value when it was last read
  arriving: 0, // the timeout of the way to where a link leads, 0 for none,
  own: new Set(), // and the boxes that were typed in since it set out, by element id
};

/** Wait for the strip to show a text. */
export function startReading() {
  clearTimeout(typingState.reading);
  typingState.reading = setTimeout(wasRead, PATIENCE);
}

/** The page goes where a link leads. What is typed from now on stays, and is read with what the link sets, not before it. */
export function startArriving() {
  clearTimeout(typingState.arriving);
  typingState.arriving = setTimeout(didNotArrive, PATIENCE);
  typingState.own.clear();
}

/** The page did not get where the link leads: what was typed is read where it is. */
export function didNotArrive() {
  clearTimeout(typingState.arriving);
  typingState.arriving = 0;
  sendTyped();
}

/** What the link sets is there, so that the texts are read with it. */
export function hasArrived() {
  clearTimeout(typingState.timer);
  typingState.tell = null;
  didNotArrive();
}

// Send what was typed, unless it is to be read with what a link sets.
function sendTyped() {
  if (!typingState.arriving) typingState.tell?.();
}

/** The strip shows the last text, or an error was shown. */
export function wasRead() {
  clearTimeout(typingState.reading);
  typingState.reading = 0;
  document.dispatchEvent(new Event("bert:read"));
  sendTyped();
  done();
}

/**
 * For text boxes, by their selector. Resolves when nothing was typed for a moment and the previous text is answered, or when the box is
 * left, so that the next click comes after it. Calls that a newer one replaces, and calls for a text set by the page, never resolve.
 */
export function typed(values, boxes) {
  return new Promise((resolve) => {
    if (!document.activeElement?.closest(boxes)) return;
    clearTimeout(typingState.timer);
    typingState.tell = () => {
      clearTimeout(typingState.timer);
      typingState.tell = null;
      resolve(values);
    };
    // Gradio reports a key one frame later.
    const waited = performance.now() - typingState.keyed;
    typingState.timer = setTimeout(() => !typingState.reading && sendTyped(), Math.max(0, PAUSE - waited));
  });
}

/**
 * For dropdowns, which fire `input` on a choice and again on being left, even if nothing was chosen. Calls without a new value
 * never resolve.
 */
export function chosen(values) {
  return new Promise((resolve) => {
    if (typingState.menu && typingState.menu.value === typingState.shown) return;
    typingState.shown = typingState.menu?.value;
    resolve(values);
  });
}

const TYPED = "dialog, .table-wrap, textarea, select, [contenteditable=true], input:not([type=radio], [type=checkbox], [type=range])";

/** Whether keys typed there are text, not the page's shortcuts. */
export const isTyping = (target) => Boolean(target.closest?.(TYPED));

// Whether the box is the number of a slider.
const ofSlider = (box) => box.type === "number" && box.max !== "" && !box.closest("#steppers");

// A slider's number past the end becomes the end, before Gradio sees and refuses it; an empty box or a number too small may
// be the beginning of another number.
function keepInRange(event) {
  if (!ofSlider(event.target)) return;
  const { value, min, max } = event.target;
  if (value === "") event.stopImmediatePropagation();
  else if (+value > +max) event.target.value = max;
  else if (+value < +min && +value <= 0) event.target.value = min;
}

/** Listen to keys and to the use of dropdowns and sliders. */
export function listenToTyping() {
  document.addEventListener("input", ({ target, isTrusted }) => {
    typingState.keyed = performance.now();
    if (isTrusted) typingState.own.add(target.closest(".block")?.id);
  }, { capture: true });
  document.addEventListener("input", keepInRange, { capture: true });
  document.addEventListener("change", ({ target }) => {
    if (!ofSlider(target) || target.value !== "") return;
    target.value = target.min;
    target.dispatchEvent(new Event("input", { bubbles: true }));
  });
  document.addEventListener("focusin", ({ target }) => target.role === "combobox" && Object.assign(typingState, { menu: target, shown: target.value }));
  document.addEventListener("focusout", () => {
    sendTyped();
    // After the event that a dropdown fires when it is left.
    setTimeout(() => document.activeElement !== typingState.menu && (typingState.menu = null));
  });
  // A click in a list counts even on the chosen item. In the capture phase, before the list's own listener.
  const pressed = ({ target }) => target.closest("[role=option]") && (typingState.shown = null);
  document.addEventListener("mousedown", pressed, { capture: true });
}

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
