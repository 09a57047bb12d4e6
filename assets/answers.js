// Answers that a class, or a lesson, guesses before they are shown. Python marks parts as answers (`answer=True`). While answers are
// hidden, or a lesson covers something, the style sheet (answers_switch.css) takes them from eyes, keys, searches and screen readers.
import { covered } from "./page/pointing.js";
import { isTyping } from "./page/typing.js";
import { button, el, isKey } from "./shared/dom.js";
import { store, stored } from "./shared/storage.js";
import { withhold } from "./shared/mounting.js";

const KEPT = "bert-answers"; // key in sessionStorage
const ANSWERS = ".block.bx-answer";
const WORDS = "Answer hidden"; // the style sheet adds how to show it, where there is room
let about = ""; // the subject of the uncovered answers: when it changes, they are covered again

/** Whether answers are hidden. */
export const hidden = () => document.documentElement.dataset.answers === "hidden";

/** Whether the user chose to hide them. */
export const isChosen = () => stored(KEPT, "sessionStorage") === true;

/** Hide or show all answers. The user's choice is `kept`; while a class guesses, they are hidden without it. */
export function setHidden(hidden, kept = true) {
  if (hidden) document.documentElement.dataset.answers = "hidden";
  else delete document.documentElement.dataset.answers;
  if (kept) store(KEPT, hidden, "sessionStorage");
  for (const one of document.querySelectorAll(".bx-answers button")) one.ariaPressed = String(hidden);
  coverAll();
}

// Cover those that were shown one by one.
function coverAll() {
  for (const block of document.querySelectorAll(`${ANSWERS}[data-shown]`)) delete block.dataset.shown;
  about = subject();
  fit();
}

// Show one answer until the page's subject changes.
function show(block) {
  block.dataset.shown = "yes";
  fit();
  block.tabIndex = -1; // its button, which had the focus, is gone
  block.focus({ preventScroll: true });
}

/** Show every answer inside an element, or the answer that contains it. */
export function showIn(element) {
  if (!hidden() || !element) return;
  const around = element.closest(ANSWERS);
  for (const block of around ? [around] : element.querySelectorAll(ANSWERS)) block.dataset.shown = "yes";
  fit();
}

// The subject of answers: the model, the page's texts, the texts of views, and what is open.
function subject() {
  const values = [...document.querySelectorAll(":is(#model-name, #text-a, #text-b) :is(textarea, input)")];
  const panel = [...document.querySelectorAll("#tabs [role=tabpanel]")].find((one) => one.offsetParent);
  const own = [...(panel?.querySelectorAll("[data-testid=textbox], [id$=-view] input:checked") ?? [])];
  return JSON.stringify([panel?.id, ...[...values, ...own.filter((one) => one.offsetParent)].map((one) => one.value)]);
}

// Runs before anything new is painted.
function changed() {
  if (hidden() && subject() !== about) coverAll();
  else if (hidden() || covered.id) fit();
}

// Give each answer the button that covers it, cover what a lesson asks about, and withhold what gives answers away elsewhere.
function fit() {
  const hides = hidden();
  coverForLesson();
  for (const block of hides ? document.querySelectorAll(`${ANSWERS}:not(:has(> .bx-cover))`) : []) block.append(button(WORDS, () => show(block), { class: "bx-cover", "aria-expanded": "false" }));
  const shows = (answer) => Boolean(document.querySelector(`${answer}[data-shown]`));
  withhold({ doubts: Boolean(covered.id) || (hides && !shows("#says")), telling: Boolean(covered.id) || (hides && !shows("[id$=-finding]")) });
}

// A lesson covers an element, or everything in the tabs, since on the way to its tab another one is open.
function coverForLesson() {
  const asked = [document.getElementById(covered.id), covered.row ? document.getElementById("strip") : null];
  const wanted = new Set(covered.id === "view" ? [...document.querySelectorAll("#tabs .view"), asked[1]] : asked);
  document.body.toggleAttribute("data-covers", Boolean(covered.id));
  for (const one of document.querySelectorAll("[data-covered]")) if (!wanted.has(one)) delete one.dataset.covered;
  for (const one of wanted) if (one) one.dataset.covered = "yes";
}

/** A switch that hides or shows all answers. */
export function answersButton() {
  const look = { "aria-pressed": String(hidden()), "aria-keyshortcuts": "H", title: "Cover every answer until it is asked for (H)" };
  return button(el("span", {}, "Hide answers"), () => setHidden(!hidden()), look);
}

/** Hide them if they were hidden before, and follow the page. */
export function watchAnswers() {
  if (isChosen()) document.documentElement.dataset.answers = "hidden";
  new MutationObserver(changed).observe(document.documentElement, { subtree: true, childList: true, attributeFilter: ["data-busy"] });
  document.addEventListener("bert:covered", fit);
  document.addEventListener("input", changed);
  document.addEventListener("keydown", (event) => {
    if (!isKey(event, "h") || event.defaultPrevented || event.repeat || isTyping(event.target)) return;
    event.preventDefault();
    setHidden(!hidden());
  });
}
