// Small things that the page does in the browser, without asking Python.
import { whenThere } from "./shared/dom.js";

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
