// The numbers of the selection, each with buttons for the previous and the next value.
import { draw as drawOpen } from "../page/drawing.js";
import { button, el, plain } from "../shared/dom.js";
import { choiceHere, define } from "../shared/mounting.js";

define("Steppers", ({ element, props }) => {
  const root = element.querySelector(".bx-steppers");
  const choices = new Map(); // the last choice made here, by name
  let shown = "";

  function build(one) {
    const go = (step) => () => choose(one.name, Number(root.querySelector(`[data-name="${one.name}"]`).value) + step);
    const stepper = (sign, what, step) => button(sign, go(step), { title: `${what} ${one.label.toLowerCase()}`, "aria-label": `${what} ${one.label.toLowerCase()}` });
    const box = el("input", { type: "number", inputmode: "numeric", "data-name": one.name, step: 1 });
    box.addEventListener("input", () => box.value !== "" && choose(one.name, Number(box.value)));
    box.addEventListener("change", () => box.value === "" && draw());
    return el("span", { class: "bx-stepper" }, el("label", {}, one.label, box), stepper("‹", "previous", -1), stepper("›", "next", 1));
  }

  function choose(name, number) {
    const box = root.querySelector(`[data-name="${name}"]`);
    const at = Math.min(Number(box.max), Math.max(Number(box.min), Math.round(number) || 0));
    if (!choices.has(name)) choices.set(name, choiceHere());
    choices.get(name).set(at);
    box.value = at;
    // Keep the new value, so that an answer with the old one counts as a change.
    props.value = plain(props.value).map((one) => (one.name === name ? { ...one, at } : one));
    drawOpen({ [name]: at });
  }

  function draw() {
    const value = plain(props.value) || []; // Gradio starts with ""
    const names = JSON.stringify(value.map((one) => one.name));
    if (names !== shown) root.replaceChildren(...value.map(build)); // otherwise keep the elements, and the focus
    shown = names;
    for (const one of value) {
      const box = root.querySelector(`[data-name="${one.name}"]`);
      Object.assign(box, { min: one.low, max: one.high, value: choices.get(one.name)?.settle(one.at) ?? one.at });
      box.parentElement.title = `${one.low} to ${one.high}`;
    }
  }
  return draw;
});
