// 'What are you looking for?': every view by its question, tab and needs.
import { along } from "../arithmetic/moves.js";
import { el, reveal } from "../shared/dom.js";
import { open } from "./drawing.js";

let offered = () => [];

/**
 * Say which views there are to find.
 * @param {() => {question: string, tab: string, choice: string, needs: string}[]} views
 */
export function offerViews(views) {
  offered = views;
}

/** Open the list. */
export function openFinder() {
  if (document.querySelector("#finder[open]")) return;
  const input = el("input", { type: "text", placeholder: "What are you looking for?", "aria-label": "What are you looking for?", "aria-controls": "finder-list", role: "combobox", "aria-expanded": "true", autocomplete: "off", spellcheck: "false" });
  const list = el("ul", { id: "finder-list", role: "listbox", "aria-label": "views" });
  const dialog = el("dialog", { id: "finder", "aria-label": "find a view" }, input, list);
  const there = new Set([...document.querySelectorAll("gradio-app #tabs [role=tab]")].map((tab) => tab.textContent.trim()));
  const views = offered();
  let found = [];
  let at = 0;

  const mark = (index) => {
    at = Math.max(0, Math.min(found.length - 1, index));
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === at));
    const item = list.children[at];
    input.setAttribute("aria-activedescendant", item?.id ?? "");
    if (item) reveal(list, item);
  };
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = ({ question, tab, choice }) => `${question} ${tab} ${choice}`.toLowerCase();
    found = views.filter((view) => there.has(view.tab) && words.every((word) => text(view).includes(word)));
    list.replaceChildren(...found.map(({ question, tab, choice, needs }, i) =>
      el("li", { role: "option", id: `finder-${i}` }, el("b", {}, question), el("span", {}, [tab, choice !== tab && choice].filter(Boolean).join(" › ")), needs ? el("small", {}, `needs ${needs}`) : null)));
    if (!found.length) list.append(el("li", { class: "bx-none" }, "No view asks that. Try one word, such as head, layer or neuron."));
    mark(0);
  };
  const go = (index) => {
    const view = found[index];
    if (!view) return;
    dialog.close();
    open(view.tab, view.choice);
  };
  input.addEventListener("input", search);
  dialog.addEventListener("keydown", (event) => {
    const next = along(event, at, found.length);
    if (event.key === "Enter") go(at);
    else if (["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key) && next >= 0) mark(next);
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", ({ target }) => go([...list.children].indexOf(target.closest("li"))));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  search();
  input.focus();
}

/** Let Ctrl K open it. */
export function listenForFinder() {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    openFinder();
  });
}
