// The sections above the tabs, of which the open one shows its tabs.
import { along } from "../arithmetic/moves.js";
import { idOf } from "../page/drawing.js";
import { el, rove } from "../shared/dom.js";
import { drawn } from "../shared/mounting.js";

drawn("Sections", ({ root, element, props }) => {
  const LONG = 12; // letters
  const last = new Map(); // by section, its last open tab
  let buttons = [];
  let shown = ""; // the open tab

  const tabs = () => [...document.querySelectorAll("gradio-app #tabs [role=tab]")];

  // The open section is that of the open tab, whoever opened it.
  function follow() {
    const { sections } = props.value;
    const open = tabs().find((tab) => tab.getAttribute("aria-selected") === "true");
    if (!open || document.body.dataset.arriving) return;
    const number = sections.findIndex((one) => one.tabs.includes(idOf(open)));
    last.set(number, idOf(open));
    quieten(idOf(open));
    if (document.body.dataset.section === String(number) && buttons[number].ariaSelected === "true") return;
    document.body.dataset.section = number;
    mark(number);
  }

  // Where a tab does not read the two texts they are a quiet line, until somebody uses it.
  function quieten(tab) {
    if (tab === shown) return;
    shown = tab;
    document.body.toggleAttribute("data-quiet", props.value.without_texts.includes(tab));
  }

  function mark(number) {
    buttons.forEach((button, i) => (button.ariaSelected = String(i === number)));
    rove(buttons, number);
  }

  // On a phone a long label is cut to its first word, so that all sections are in one line.
  function named(label) {
    const [first, ...rest] = label.split(" ");
    return label.length > LONG ? [first, el("span", { class: "bx-rest" }, ` ${rest.join(" ")}`)] : [label];
  }

  function draw({ sections }) {
    buttons = sections.map(({ label }) => el("button", { type: "button", role: "tab", "data-label": label }, ...named(label)));
    root.replaceChildren(...buttons);
    const asked = new URLSearchParams(location.search).get("tab"); // from a link
    const number = Math.max(0, sections.findIndex((one) => one.tabs.includes(asked)));
    quieten(asked ?? sections[0].tabs[0]);
    mark(number);
    document.body.dataset.section ??= number;
    follow();
  }

  root.addEventListener("click", ({ target }) => {
    const number = buttons.indexOf(target.closest("button"));
    if (number < 0 || !element.closest("gradio-app")) return; // first.js handles it itself
    const ids = props.value.sections[number].tabs;
    const there = tabs().filter((tab) => ids.includes(idOf(tab)));
    (there.find((tab) => idOf(tab) === last.get(number)) ?? there[0])?.click();
  });

  root.addEventListener("keydown", (event) => {
    const next = along(event, buttons.indexOf(event.target), buttons.length);
    if (next < 0 || ["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    buttons[next].focus();
    buttons[next].click();
  });

  if (element.closest("gradio-app")) {
    document.addEventListener("focusin", ({ target }) => target.closest("#text-a, #text-b") && document.body.removeAttribute("data-quiet"));
    new ResizeObserver(() => document.documentElement.style.setProperty("--bx-sections", `${root.offsetWidth}px`)).observe(root);
    new MutationObserver(follow).observe(document.body, { subtree: true, attributeFilter: ["aria-selected", "data-arriving"] });
  }
  return draw;
});
