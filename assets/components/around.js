// The parts around the tabs: the sections and the choices behind More, the prediction, the numbers of the selection, the link to the
// guide with the switch of answers, and pulses.
import { answersButton } from "../answers.js";
import { anchor } from "../arithmetic/labels.js";
import { put, texts } from "../page/boxes.js";
import { busyState } from "../page/typing.js";
import { draw as drawOpen, idOf, more, pulses } from "../page/drawing.js";
import { along, button, el, plain, rove } from "../shared/dom.js";
import { choiceHere, define, drawn, unexpectedTitle, withhold } from "../shared/mounting.js";

// The sections above the tabs, of which the open one shows its tabs.
drawn("Sections", ({ root, element, props }) => {
  const LONG = 12; // letters
  const last = new Map(); // by section, its last open tab
  let buttons = [];
  let shown = ""; // the open tab

  const tabs = () => [...document.querySelectorAll("gradio-app #tabs [role=tab]")];

  const sectionOf = (tab) => Math.max(0, props.value.sections.findIndex((one) => one.tabs.includes(tab)));

  // The open section is that of the open tab, whoever opened it.
  function follow() {
    const open = tabs().find((tab) => tab.getAttribute("aria-selected") === "true");
    if (!open || document.body.dataset.arriving) return;
    const number = sectionOf(idOf(open));
    last.set(number, idOf(open));
    if (idOf(open) === shown && document.body.dataset.section === String(number)) return;
    document.body.dataset.section = number;
    mark(idOf(open));
  }

  // Where a tab does not read the two texts they are a quiet line, until somebody uses it.
  function mark(tab) {
    shown = tab;
    document.body.toggleAttribute("data-quiet", props.value.without_texts.includes(tab));
    buttons.forEach((button, i) => (button.ariaSelected = String(i === sectionOf(tab))));
    rove(buttons, sectionOf(tab));
  }

  // On a phone a long label is cut to its first word, so that all sections are in one line.
  function named(label) {
    const [first, ...rest] = label.split(" ");
    return label.length > LONG ? [first, el("span", { class: "bx-rest" }, ` ${rest.join(" ")}`)] : [label];
  }

  function draw({ sections }) {
    buttons = sections.map(({ label }) => el("button", { type: "button", role: "tab", "data-label": label }, ...named(label)));
    root.replaceChildren(...buttons);
    const asked = new URLSearchParams(location.search).get("tab") ?? sections[0].tabs[0]; // from a link
    mark(asked);
    document.body.dataset.section ??= sectionOf(asked);
    follow();
  }

  root.addEventListener("click", ({ target }) => {
    const number = buttons.indexOf(target.closest("button"));
    if (number < 0 || !element.closest("gradio-app")) return; // first.js handles it itself
    const ids = props.value.sections[number].tabs;
    const there = tabs().filter((tab) => ids.includes(idOf(tab)));
    (there.find((tab) => idOf(tab) === last.get(number)) ?? there[0])?.click();
  });

  if (element.closest("gradio-app")) {
    document.addEventListener("focusin", ({ target }) => target.closest("#text-a, #text-b") && document.body.removeAttribute("data-quiet"));
    new ResizeObserver(() => document.documentElement.style.setProperty("--bx-sections", `${root.offsetWidth}px`)).observe(root);
    new MutationObserver(follow).observe(document.body, { subtree: true, attributeFilter: ["aria-selected", "data-arriving"] });
  }
  return draw;
});

// The choices of a tab that are not beside its question: a menu with the question that each one answers.
drawn("More", ({ root, props }) => {
  const opener = el("button", { type: "button", "aria-haspopup": "menu" }, "More");
  const menu = el("ul", { role: "menu", "aria-label": "More", popover: "" });
  opener.popoverTargetElement = menu; // the browser opens and closes it
  root.append(opener, menu);

  const radioOf = (label) => [...document.querySelectorAll(`#${props.value.of} input`)].find((radio) => radio.closest("label").textContent.trim() === label);

  function goTo(number) {
    rove([...menu.children], number);
    menu.children[number].focus();
  }

  function choose({ dataset: { label } }) {
    menu.hidePopover();
    radioOf(label).click();
    radioOf(label).focus();
  }

  function enter() {
    for (const item of menu.children) item.ariaChecked = String(radioOf(item.dataset.label).checked);
    goTo(Math.max(0, [...menu.children].findIndex((item) => item.ariaChecked === "true")));
  }

  menu.addEventListener("toggle", ({ newState }) => newState === "open" && !menu.contains(document.activeElement) && enter());
  menu.addEventListener("click", ({ target }) => choose(target.closest("li")));
  root.addEventListener("keydown", (event) => {
    const at = [...menu.children].indexOf(event.target);
    const next = along(event, at, menu.children.length);
    if (at < 0 && ["ArrowDown", "Enter", " "].includes(event.key)) {
      menu.showPopover({ source: opener });
      enter(); // before the next key, which may come before the event
    } else if (at >= 0 && ["Enter", " "].includes(event.key)) choose(event.target);
    else if (next >= 0) goTo(next);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has a meaning for some of these keys, too
  });
  root.addEventListener("focusout", ({ relatedTarget }) => root.contains(relatedTarget) || menu.hidePopover());

  return ({ choices }) => menu.replaceChildren(...Object.entries(choices).map(([label, question]) =>
    el("li", { role: "menuitemradio", tabindex: "-1", "data-label": label }, el("b", {}, label), el("span", {}, question))));
});

// The model's prediction in a sentence, beside the input in every tab.
drawn("Says", ({ root, trigger, props }) => {
  const PAUSE = 400; // ms at rest before the words are masked in turn
  const bar = document.querySelector("#bar");
  let waiting = 0;
  // Keeps it below the bar while scrolling, whatever the bar's height.
  if (bar) new ResizeObserver(() => document.documentElement.style.setProperty("--bx-bar", `${bar.offsetHeight}px`)).observe(bar);

  const answer = ({ asked, answer, share, before }) =>
    el("span", {}, asked ? el("bdi", { class: "bx-says-asked" }, asked) : null, el("b", {}, el("bdi", {}, answer)), ` ${share}`,
      before ? el("s", { title: "before the change" }, el("bdi", {}, before)) : null);

  function unexpected({ words, named, partly, as_it_is: asItIs }) {
    const chip = (one) => el("span", {}, el("button", { type: "button", "data-token": one.token, title: unexpectedTitle(one) }, el("bdi", {}, one.word)), ` ${one.share}`);
    const [first, ...others] = words.slice(0, named);
    const where = `${partly ? " in this sentence" : ""}${asItIs ? ", without the change" : ""}`;
    return [el("span", { class: "bx-says-hint" }, `least expected${where}`), chip(first),
      first.guess ? el("span", { class: "bx-says-hint" }, "rather ", el("bdi", {}, first.guess), ` ${first.guess_share}`) : null, ...others.map(chip)].filter(Boolean);
  }

  // Ask again after a while: other calls had priority.
  function ask() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!props.value?.asks || !root.isConnected) return;
      if (!busyState.working) trigger("ask", { index: 0, value: "" });
      ask();
    }, PAUSE);
  }

  // In their boxes, as if [MASK] was typed there.
  function makeBlanks() {
    document.querySelector("#text-a textarea").focus(); // text set while no box has the focus does not count as typed
    texts().forEach((text, i) => put("ab"[i], text.replace(/__+/g, "[MASK]")));
  }

  const hint = (...content) => el("span", { class: "bx-says-hint" }, ...content);

  function draw(value) {
    root.replaceChildren();
    withhold({ unexpected: value?.unexpected });
    if (!value) return;
    if (value.dashes) root.append(hint("“___” is not a blank: ", button("make it [MASK]", makeBlanks)));
    else root.append(...[value.hint, value.asks && "hiding each word in turn …"].filter(Boolean).map((text) => hint(text)));
    root.append(...value.answers.map(answer), ...(value.unexpected && !value.dashes ? unexpected(value.unexpected) : []));
    if (value.asks && bar) ask();
  }

  root.addEventListener("click", ({ target }) => {
    const word = target.closest("[data-token]");
    if (word) trigger("mask", { index: Number(word.dataset.token), value: word.textContent });
  });
  return draw;
});

// The numbers of the selection, each with buttons for the previous and the next value.
drawn("Steppers", ({ root, props }) => {
  const choices = new Map(); // the last choice made here, by name
  let shown = "";

  const boxOf = (name) => root.querySelector(`[data-name="${name}"]`);

  function build({ name, label }) {
    const stepper = (sign, title, step) => button(sign, () => choose(name, Number(box.value) + step), { title, "aria-label": title });
    const box = el("input", { type: "number", inputmode: "numeric", "data-name": name, step: 1 });
    box.addEventListener("input", () => box.value !== "" && choose(name, Number(box.value)));
    box.addEventListener("change", () => box.value === "" && draw(plain(props.value)));
    return el("span", { class: "bx-stepper" }, el("label", {}, label, box), stepper("‹", `previous ${label.toLowerCase()}`, -1), stepper("›", `next ${label.toLowerCase()}`, 1));
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
