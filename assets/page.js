// Small things that the page does in the browser, without asking Python.
import { csv } from "./arithmetic/csv.js";
import { saveFile } from "./shared/dom.js";

/**
 * Save a table of Gradio as CSV.
 * @param {string} name of the file
 */
export function downloadCsv({ headers, data }, name) {
  saveFile(new Blob([csv(headers, data)], { type: "text/csv" }), name);
}

/** On a phone the bar is one line of tokens until it is opened. */
export function toggleBar() {
  document.body.toggleAttribute("data-bar");
  document.querySelector("#open-bar").setAttribute("aria-expanded", document.body.hasAttribute("data-bar"));
  if (document.body.hasAttribute("data-bar")) document.querySelector("#text-a textarea").focus();
}

export function toggleTheme() {
  document.body.classList.toggle("dark");
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
