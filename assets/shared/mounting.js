// How Gradio, a file and the first picture get a component drawn into an element, and what the app's page does for components.
import { plain } from "./dom.js";

const mounts = new Map();
const listeners = [];

/**
 * Say how the component of a class is drawn: `mounting` is called for each instance and returns the function that draws its value.
 * It gets the `element` with the component's skeleton, `trigger(event, {index, value})`, which has Python do something, `props`,
 * whose `value` is what Python sent, and `settings`, the options of the class in explorer/page/components.py.
 */
export const define = (name, mounting) => mounts.set(name, mounting);

/**
 * Say how a component is drawn whose value is small: `mounting` also gets its `root`, the skeleton, and what it returns gets the
 * bare value, null for none.
 */
export function drawn(name, mounting) {
  define(name, ({ element, props, ...rest }) => {
    const draw = mounting({ root: element.querySelector(".bx"), element, props, ...rest });
    return () => draw(plain(props.value || null));
  });
}

/** Draw a component, and again whenever `watch` says that its value has changed. */
export function mount(name, element, trigger, props, watch, settings) {
  const draw = mounts.get(name)({ element, trigger, props, settings });
  watch("value", draw);
  draw();
  for (const listener of listeners) listener(name, element, props, settings);
}

/** Call fn(name, element, props, settings) for each component that is mounted from now on. */
export const onMount = (fn) => listeners.push(fn);

/**
 * A choice takes effect in the browser at once, and the server confirms it later. An answer that was under way must not undo it:
 * for a moment (ms), the choice made here overrides incoming values.
 */
export function choiceHere(patience = 1500) {
  let chosen = null;
  let until = 0;
  let timer = 0;
  return {
    set(value) {
      chosen = value;
      until = performance.now() + patience;
    },
    settle(incoming, again = () => {}) { // `again` is called when the incoming value may count after all
      const left = until - performance.now();
      if (left > 0 && String(incoming) !== String(chosen)) {
        clearTimeout(timer);
        timer = setTimeout(again, left + 1);
        return chosen;
      }
      if (String(incoming) === String(chosen)) { // confirmed: later values are newer
        until = 0;
        clearTimeout(timer);
      }
      chosen = incoming;
      return incoming;
    },
  };
}

/** `page`: functions that assets/app.js sets; null where there is no app around the components. */
export const host = { page: null };

// What gives an answer away outside of its own element: marks on the words that the model does not expect, and the outline of the
// cell that a finding is about. assets/answers.js says when they are withheld.
export const withheld = { doubts: false, telling: false, unexpected: undefined }; // the last is {of: tokens, words}

/** Withhold them, or no longer; what shows them hears `bert:withheld`. */
export function withhold(now) {
  if (Object.entries(now).every(([name, value]) => withheld[name] === value)) return;
  Object.assign(withheld, now);
  document.dispatchEvent(new Event("bert:withheld"));
}

/** What a marked word says when it is pointed at. */
export function unexpectedTitle({ word, share, guess, guess_share: sure }) {
  return `Hidden here, “${word}” gets ${share}${guess ? `; BERT would rather say “${guess}” (${sure})` : ", as the first guess"}.`;
}
