// The parts around the tabs: the numbers of the selection, the link to the guide with the switch of answers, and pulses.
import { answersButton } from "../answers.js";
import { anchor } from "../arithmetic/labels.js";
import { draw as drawOpen, idOf, more, pulses } from "../page/drawing.js";
import { button, el, plain } from "../shared/dom.js";
import { choiceHere, define, drawn } from "../shared/mounting.js";

// The numbers of the selection, each with buttons for the previous and the next value.
drawn("Steppers", ({ root, props }) => {
  const choices = new Map(); // the last choice made here, by name
  let shown = "";

  const boxOf = (name) => root.querySelector(`[data-name="${name}"]`);

  function build({ name, label }) {
    const stepper = (sign, what, step) => {
      const title = `${what} ${label.toLowerCase()}`;
      return button(sign, () => choose(name, Number(box.value) + step), { title, "aria-label": title });
    };
    const box = el("input", { type: "number", inputmode: "numeric", "data-name": name, step: 1 });
    box.addEventListener("input", () => box.value !== "" && choose(name, Number(box.value)));
    box.addEventListener("change", () => box.value === "" && draw(plain(props.value)));
    return el("span", { class: "bx-stepper" }, el("label", {}, label, box), stepper("‹", "previous", -1), stepper("›", "next", 1));
  }

  function choose(name, number) {
    const box = boxOf(name);
    const at = Math.min(Number(box.max), Math.max(Number(box.min), Math.round(number) || 0));
    if (!choices.has(name)) choices.set(name, choiceHere());
    choices.get(name).set(at);
    box.value = at;
    // Keep the new value, so that an answer with the old one counts as a change.
    props.value = plain(props.value).map((one) => (one.name === name ? { ...one, at } : one));
    drawOpen({ [name]: at });
  }

  function draw(sent) {
    const value = sent ?? [];
    const names = JSON.stringify(value.map((one) => one.name));
    if (names !== shown) root.replaceChildren(...value.map(build)); // otherwise keep the elements, and the focus
    shown = names;
    for (const { name, low, high, at } of value) {
      const box = boxOf(name);
      Object.assign(box, { min: low, max: high, value: choices.get(name)?.settle(at) ?? at });
      box.parentElement.title = `${low} to ${high}`;
    }
  }

  return draw;
});

// The address of the guide's section on what is open.
function address() {
  const tab = document.querySelector('gradio-app #tabs [role=tab][aria-selected="true"]');
  if (!tab) return "bx/guide";
  const choice = document.querySelector(`#${idOf(tab)}-view input:checked`)?.closest("label").textContent;
  return `bx/guide/${idOf(tab)}?__theme=${document.body.classList.contains("dark") ? "dark" : "light"}#${anchor(choice ?? "")}`;
}

drawn("AnswersSwitch", ({ root }) => {
  const title = "BERT reads a whole text and guesses hidden words. Type, click a word to follow it, double-click it to hide it. Click here for the guide to this view";
  const link = el("a", { href: "bx/guide", target: "_blank", rel: "noopener", title, class: "bx-guide" }, el("span", {}, "Guide"));
  for (const kind of ["pointerenter", "focus", "click"]) link.addEventListener(kind, () => (link.href = address()));
  root.append(link, answersButton());
  return () => {};
});

// Invisible: by its name, the page asks the server for a drawing; its value says that some parts are still to come.
define("Pulse", ({ trigger, props, settings }) => {
  pulses.set(settings.name, trigger);
  let known = props.value;
  return () => {
    if (props.value && props.value !== known) more(settings.name);
    known = props.value;
  };
});
