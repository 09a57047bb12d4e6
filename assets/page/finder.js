// 'What are you looking for?': views, settings, actions, examples, lessons, terms, the guide, and heads by their habit.
import { hidden, setHidden } from "../answers.js";
import { linkState, visit, withShown } from "../link.js";
import * as lessons from "../lessons.js";
import { toggleTheme } from "../page.js";
import { present } from "../present.js";
import { ask } from "../shared/asking.js";
import { along, el, openDialog, reveal } from "../shared/dom.js";
import * as take from "../take.js";
import { put } from "./boxes.js";
import { open } from "./drawing.js";
import { indexOf } from "./finding.js";
import { isTyping } from "./typing.js";

const NONE = "Nothing is called that. Try another word: attention, mask, neuron, train, dark, csv.";
const FAILED = "The list could not be fetched. Close this and try again in a moment.";
const KEYS = { "Ctrl K": "find anything", "?": "these keys", P: "present the picture that is pointed at", H: "hide or show the answers", "← →": "the next tab, choice, cell or token", "Home End": "the first or the last", Esc: "close what is open" };
const FIRST = ["Overview", "Attention › One head", "Fill-mask › Guesses", "Projection", "Fine-tune"]; // shown before anything is typed

let asked = null; // a promise of [entries, find]
let askedOf = null; // the model whose heads they name

const focus = (selector) => document.querySelector(`gradio-app ${selector}`)?.focus();
const actions = {
  share: () => take.show(),
  theme: toggleTheme,
  clear: () => {
    focus("#text-a textarea"); // text set in an unfocused box does not count as typed
    put("b", "");
    put("a", "");
  },
  type: () => focus("#text-a textarea"),
  answers: () => setHidden(!hidden()),
  present,
  model: () => focus("#model-box input"),
  example: () => document.querySelector("gradio-app #next-example")?.click(),
  lessons: () => lessons.open(),
  room: () => lessons.open().then(() => document.getElementById("open-room")?.click()),
  keys: showKeys,
  guide: () => window.open("bx/guide", "_blank", "noopener"),
  api: () => window.open("bx/guide/api", "_blank", "noopener"),
};

/** Do what an entry stands for (explorer/guide/finding.py). */
function go(entry) {
  if (Array.isArray(entry.go)) return open(...entry.go);
  if (actions[entry.go]) return actions[entry.go]();
  const [what, ...rest] = entry.go.split(" ");
  if (what === "lesson") return lessons.open(rest[0]);
  if (what === "guide") return window.open(`bx/guide/${rest[0]}`, "_blank", "noopener");
  const kept = new URLSearchParams(entry.go).has("tab") ? ["model", "a", "b"] : ["model", "tab", "view"]; // of an example only the texts are new
  visit(withShown(entry.go, kept));
  linkState.visiting = null; // what opens has a longer link of its own, which is a new entry of the history
}

async function fetched(model) {
  const address = new URL("bx/minisearch.js", document.baseURI);
  const [{ default: MiniSearch }, sent] = await Promise.all([import(address), ask(`bx/find.json?${new URLSearchParams({ model })}`)]);
  return [sent.entries, indexOf(MiniSearch, sent)];
}

/** What is found for some words, the best first. */
export async function find(words) {
  const model = new URLSearchParams(linkState.query || location.search).get("model") ?? "";
  if (model !== askedOf) asked = null;
  askedOf = model;
  asked ??= fetched(model).catch((error) => {
    asked = null;
    throw error;
  });
  const [entries, best] = await asked;
  if (words.trim()) return best(words);
  return FIRST.map((place) => entries.find(({ where }) => where === place)).filter(Boolean);
}

const KINDS = { answer: "guide", view: "", setting: "setting", action: "action", lesson: "lesson", step: "lesson", term: "term", guide: "guide", head: "head", layer: "layer", example: "example" };

/** Open the list. */
export function openFinder() {
  if (document.querySelector("#finder[open]")) return;
  const input = el("input", { type: "text", placeholder: "What are you looking for?", "aria-label": "What are you looking for?", "aria-controls": "finder-list", role: "combobox", "aria-expanded": "true", autocomplete: "off", spellcheck: "false" });
  const list = el("ul", { id: "finder-list", role: "listbox", "aria-label": "what is found" });
  const foot = el("p", { class: "bx-none" }, "↑ ↓ choose · Enter opens · Esc closes · ? lists all keys");
  const dialog = el("dialog", { id: "finder", "aria-label": "find anything" }, input, list, foot);
  let found = [];
  let at = 0;

  const mark = (index) => {
    at = Math.max(0, Math.min(found.length - 1, index));
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === at));
    const item = list.children[at];
    input.setAttribute("aria-activedescendant", item?.id ?? "");
    if (item) reveal(list, item);
  };
  const show = (entries) => {
    const there = new Set([...document.querySelectorAll("gradio-app #tabs [role=tab]")].map((tab) => tab.textContent.trim()));
    found = entries.filter((entry) => !Array.isArray(entry.go) || there.has(entry.go[0])); // tabs that the model has
    list.replaceChildren(...found.map(({ kind, title, where }, i) =>
      el("li", { role: "option", id: `finder-${i}` }, el("b", {}, title), el("i", {}, KINDS[kind]), el("span", {}, where))));
    if (!found.length) list.append(el("li", { class: "bx-none" }, NONE));
    mark(0);
  };
  const search = () => {
    const words = input.value;
    find(words).then((entries) => words === input.value && show(entries), () => list.replaceChildren(el("li", { class: "bx-none", role: "alert" }, FAILED)));
  };
  const choose = (index) => {
    if (!found[index]) return;
    dialog.close();
    go(found[index]);
  };
  input.addEventListener("input", search);
  dialog.addEventListener("keydown", (event) => {
    const next = along(event, at, found.length);
    if (event.key === "Enter") choose(at);
    else if (["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key) && next >= 0) mark(next);
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", ({ target }) => choose([...list.children].indexOf(target.closest("li"))));
  openDialog(dialog);
  search();
  input.focus();
}

function showKeys() {
  const rows = Object.entries(KEYS).map(([key, does]) => el("li", {}, el("b", {}, key), el("i", {}, does)));
  openDialog(el("dialog", { id: "finder", "aria-label": "keys", tabindex: "-1" }, el("ul", {}, ...rows)));
}

/** Let Ctrl K open it, and ? the list of keys. */
export function listenForFinder() {
  document.addEventListener("keydown", (event) => {
    if (event.key === "?" && !isTyping(event.target)) return showKeys();
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    openFinder();
  });
}
