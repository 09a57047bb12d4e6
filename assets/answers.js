// Answers that stay hidden until the class has guessed. Python marks parts as answers (`answer=True`); an attribute of the
// document hides them all by style sheet, so that new ones are never seen before they are covered.
import { isTyping } from "./page/typing.js";
import { el } from "./shared/dom.js";

const KEPT = "bert-answers"; // key in sessionStorage
const ANSWERS = ".block.bx-answer";
const FINDING = ".block.bx-answer:is(#stage *, :has(.bx-finding))"; // the same answer in two places
const WORDS = "Answer hidden — click, or press H";
let about = ""; // the subject of the uncovered answers: when it changes, they are covered again
let due = 0;

/** Whether answers are hidden. */
export function hidden() {
  return document.documentElement.dataset.answers === "hidden";
}

function remembered() {
  try {
    return sessionStorage.getItem(KEPT) === "hidden";
  } catch {
    return false; // the browser refuses storage
  }
}

/**
 * Hide or show all answers.
 * @param {boolean} hidden
 */
export function setHidden(hidden) {
  if (hidden) document.documentElement.dataset.answers = "hidden";
  else delete document.documentElement.dataset.answers;
  try {
    sessionStorage.setItem(KEPT, hidden ? "hidden" : "shown");
  } catch {
    // then it is forgotten with the page
  }
  coverAll();
  about = subject();
  fit();
}

function toggle() {
  setHidden(!hidden());
}

/** Cover those that were shown one by one. */
export function coverAll() {
  for (const block of document.querySelectorAll(`${ANSWERS}[data-shown]`)) delete block.dataset.shown;
}

// Show one answer until the page's subject changes.
function show(block) {
  const same = block.matches(FINDING) ? [...document.querySelectorAll(FINDING)] : [block];
  for (const one of same.filter((one) => one === block || one.getClientRects().length)) one.dataset.shown = "yes";
  block.tabIndex = -1; // its button, which had the focus, is gone
  block.focus({ preventScroll: true });
}

/**
 * Show every answer inside an element, or the answer that contains it.
 * @param {Element | null} element
 */
export function showIn(element) {
  if (!hidden() || !element) return;
  const around = element.closest(ANSWERS);
  for (const block of around ? [around] : element.querySelectorAll(ANSWERS)) block.dataset.shown = "yes";
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
  if (!hidden()) return;
  const now = subject();
  if (now !== about) coverAll();
  about = now;
  due ||= requestAnimationFrame(() => fit());
}

// Give every answer with content a cover, and set every switch.
function fit() {
  due = 0;
  for (const button of document.querySelectorAll(".bx-answers button")) {
    const pressed = String(hidden());
    if (button.getAttribute("aria-pressed") !== pressed) button.setAttribute("aria-pressed", pressed);
  }
  for (const block of document.querySelectorAll(ANSWERS)) {
    const cover = [...block.children].find((one) => one.matches(".bx-cover")) ?? (hidden() ? addCover(block) : null);
    const empty = !says(block);
    if (cover && cover.hidden !== empty) cover.hidden = empty;
  }
}

function says(block) {
  const contents = [...block.children].filter((one) => !one.matches(".bx-cover, [data-testid=status-tracker]"));
  return contents.some((one) => one.textContent.trim() || one.querySelector("canvas, svg"));
}

function addCover(block) {
  const button = el("button", { type: "button", class: "bx-cover", "aria-expanded": "false", hidden: "" }, WORDS);
  button.addEventListener("click", () => show(block));
  block.append(button);
  return button;
}

/** A switch that hides or shows all answers. */
export function answersButton() {
  const look = { type: "button", "aria-pressed": String(hidden()), "aria-keyshortcuts": "H", title: "Cover every answer until it is asked for (H)" };
  const button = el("button", look, el("span", {}, "Hide answers"));
  button.addEventListener("click", () => toggle());
  return button;
}

/** Hide them if they were hidden before, and follow the page. */
export function watchAnswers() {
  if (remembered()) document.documentElement.dataset.answers = "hidden";
  new MutationObserver(() => changed()).observe(document.documentElement, {
    subtree: true, childList: true, characterData: true, attributeFilter: ["data-busy"],
  });
  document.addEventListener("input", () => changed());
  document.addEventListener("keydown", (event) => {
    if (event.key?.toLowerCase() !== "h" || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (event.repeat || isTyping(event.target)) return;
    event.preventDefault();
    toggle();
  });
}
