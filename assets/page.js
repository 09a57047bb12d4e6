// Small things that the page does in the browser, without asking Python.
import { openedByLink } from "./link.js";
import { whenThere } from "./shared/dom.js";
import { plotlyAtRest } from "./shared/plotly.js";

const PATIENCE = 20_000; // ms to wait for what should have come
const PARTS = ["#open-lessons", "#examples input", "#model-box input", "#text-b textarea", "#strip .bx-tokens", "#tabs [role=tab]"];

/** On a phone the bar is one line of tokens until it is opened, and again after Enter or a tap beside it. */
export function toggleBar() {
  const opens = document.body.toggleAttribute("data-bar");
  document.querySelector("#open-bar").setAttribute("aria-expanded", String(opens));
  if (opens) document.querySelector("#text-a textarea").focus();
}

/** Close it then. */
export function watchBar() {
  const close = () => document.body.hasAttribute("data-bar") && toggleBar();
  document.addEventListener("click", ({ target }) => target.closest("#tabs, #sections") && close());
  document.addEventListener("keydown", ({ key, target }) => key === "Enter" && target.closest("#input") && close());
}

export const toggleTheme = () => void document.body.classList.toggle("dark");

// What Gradio cannot say of its buttons and menus.
const SAID = {
  "#open-bar": { "aria-expanded": "false" },
  "#examples input": { placeholder: "your own text" },
  "#model-box input": { title: "Choose a model, or type a folder's path or a Hub id and press Enter" },
  "#next-example": { title: "Next example", "aria-label": "Next example" },
  "#find": { title: "Find a view, a setting, a lesson or an action (Ctrl K)", "aria-keyshortcuts": "Control+K" },
  "#present": { title: "Fill the screen with this picture (P)", "aria-keyshortcuts": "P" },
  "#take-away": { title: "Link, files and Python of what you see" },
  "#theme": { title: "Light or dark", "aria-label": "Light or dark" },
};

/** Give the buttons and menus of the header their tooltips, names and keys. */
export function labelHeader() {
  whenThere(Object.keys(SAID), (found) => found.forEach((one, i) => Object.entries(Object.values(SAID)[i]).forEach((said) => one.setAttribute(...said))));
}

/** The words about each model stand behind its name in the list, and not in the box. */
export function describeModels() {
  new MutationObserver(() => {
    const options = document.querySelectorAll("#model-box [role=option]");
    if (!options.length) return;
    const known = JSON.parse(document.querySelector("#models textarea, #models input")?.value || "{}");
    for (const option of options) option.setAttribute("aria-description", known[option.getAttribute("aria-label")] ?? "");
  }).observe(document.documentElement, { childList: true, subtree: true });
}

// ---- The page while it opens: hidden until it is complete.

/** A page sent with its opening values needs no first drawing, and one that a link opens comes with its own: such calls never resolve. */
export function opened(values) {
  const filled = window.gradio_config?.components.find((one) => one.props.elem_id === "strip")?.props.value;
  return filled || openedByLink() ? new Promise(() => {}) : Promise.resolve(values);
}

/** The page has its state, for which the model was loaded, or it was said why not. */
export function wasOpened() {
  document.documentElement.dataset.opened = "yes";
  setTimeout(() => delete document.body.dataset.arriving, 100); // of a link that leads nowhere
}

/**
 * Gradio's components arrive one by one and push each other about: hide them until the bar is complete, or, below what first.js
 * draws, until that leaves.
 */
export function showWhenComplete() {
  const root = document.documentElement;
  root.dataset.coming = "yes";
  const show = () => {
    look.disconnect();
    if (root.dataset.coming !== "yes") return;
    if (document.querySelector("#first")) root.dataset.coming = "complete";
    else delete root.dataset.coming;
    if (!window.gradio_config?.auth_required) plotlyAtRest();
  };
  const look = new MutationObserver(() => {
    const login = window.gradio_config?.auth_required; // a page of two boxes
    const complete = login || PARTS.every((part) => document.querySelector(`gradio-app ${part}`));
    if (complete || document.querySelector("gradio-app .error")) requestAnimationFrame(() => requestAnimationFrame(show));
  });
  look.observe(root, { childList: true, subtree: true });
  setTimeout(show, PATIENCE); // then show what is there
}
