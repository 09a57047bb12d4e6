// The two text boxes: a button empties each, and an example's B goes when another A is typed in place of the example's.
import { shared } from "../arithmetic/routes.js";
import { button, whenThere } from "../shared/dom.js";
import { told } from "./told.js";

const KEPT = 0.5; // share of an example's A that an edit of it keeps at least; with less, it is another A
const examples = [...told.examples]; // [A, B] of the examples, and of the steps of lessons
let example = null; // the one in the boxes, or of which A was edited and B was not

const box = (name) => document.querySelector(`gradio-app #text-${name} :is(textarea, input)`);

/** The two texts. */
export const texts = () => ["a", "b"].map((name) => box(name)?.value ?? "");

/** Put a text into a box, as if it was typed there. */
export function put(name, text) {
  const one = box(name);
  if (!one || one.value === text) return;
  one.value = text;
  one.dispatchEvent(new Event("input", { bubbles: true }));
}

/** The page puts these texts into the boxes: nobody typed them. */
export const addExample = (a, b) => b && examples.push([a, b]);

function look({ target }) {
  if (!target.closest("#input")) return;
  const [a, b] = texts();
  example = examples.find((one) => one[0] === a && one[1] === b) ?? example;
}

function typed({ target }) {
  const [a, b] = texts();
  if (!example || !target.closest("#input")) return;
  const { head, tail } = shared(example[0], a);
  const hasItsB = b === example[1];
  if (hasItsB && head + tail >= KEPT * example[0].length) return;
  example = null;
  if (hasItsB) put("b", "");
}

function addClear(block, name) {
  const label = `Clear text ${name.toUpperCase()}`;
  const clear = () => {
    look({ target: block });
    box(name).focus();
    put(name, "");
  };
  block.append(button("×", clear, { class: "bx-clear", "aria-label": label, title: label }));
}

/** Begin, before Gradio makes the boxes. */
export function watchBoxes() {
  for (const event of ["focusin", "beforeinput"]) document.addEventListener(event, look);
  document.addEventListener("input", typed);
  whenThere(["#text-a textarea", "#text-b textarea"], (boxes) => boxes.forEach((one, i) => addClear(one.closest("[id^=text-]"), "ab"[i])));
}
