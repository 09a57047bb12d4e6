// Answers that a class, or a lesson, guesses before they are shown. Python marks parts as answers (`answer=True`); while answers are
// hidden, or a lesson covers something, they are out of the document, with all that gives them away elsewhere on the page.
import { covered } from "./page/pointing.js";
import { isTyping } from "./page/typing.js";
import { button, el } from "./shared/dom.js";
import { store, stored } from "./shared/storage.js";
import { withholdUnexpected } from "./shared/unexpected.js";
import { contentsOf, giveBack, telling, watcher, withhold } from "./shared/withheld.js";

const KEPT = "bert-answers"; // key in sessionStorage
const ANSWERS = ".block.bx-answer";
const FINDING = ".block.bx-answer:is(#stage *, [id$=-finding])"; // the same answer in two places
const WORDS = "Answer hidden — click, or press H";
const CHANGES = { subtree: true, childList: true, characterData: true, attributeFilter: ["data-busy", "data-shown"] };
const printed = matchMedia("print"); // printed pages have their answers
let printing = false;
let about = ""; // the subject of the uncovered answers: when it changes, they are covered again

/** Whether answers are hidden. */
export function hidden() {
  return document.documentElement.dataset.answers === "hidden";
}

/** Hide or show all answers. */
export function setHidden(hidden) {
  if (hidden) document.documentElement.dataset.answers = "hidden";
  else delete document.documentElement.dataset.answers;
  store(KEPT, hidden, "sessionStorage");
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
  if (hidden()) {
    const now = subject();
    if (now !== about) coverAll();
    about = now;
  }
  if (hidden() || covered.id) fit();
}

// Withhold what gives an answer away, put back what no longer does, and set every switch.
function fit() {
  for (const button of document.querySelectorAll(".bx-answers button")) {
    const pressed = String(hidden());
    if (button.getAttribute("aria-pressed") !== pressed) button.setAttribute("aria-pressed", pressed);
  }
  coverForLesson();
  const hides = hidden() && !printing && !printed.matches;
  for (const block of document.querySelectorAll(ANSWERS)) {
    const withheld = covered.id || (hides && !block.dataset.shown);
    if (withheld) withhold(block);
    else giveBack(block);
    const cover = [...block.children].find((one) => one.matches(".bx-cover")) ?? (hides ? addCover(block) : null);
    const useless = !withheld || Boolean(covered.id) || !says(block);
    if (cover && cover.hidden !== useless) cover.hidden = useless;
  }
  withholdUnexpected(document.getElementById("says")?.dataset.withheld === "yes");
  telling.withhold(Boolean(covered.id) || (hides && !document.querySelector("[id$=-finding][data-shown]")));
}

// What a lesson covers: an element, or everything in the tabs, since on the way to its tab another one is open.
function coverForLesson() {
  const whole = covered.id === "view";
  const wanted = new Set(whole ? document.querySelectorAll("#tabs .view") : [document.getElementById(covered.id)]);
  const strip = document.getElementById("strip");
  for (const one of [...document.querySelectorAll("[data-covered]"), strip]) {
    if (!one || wanted.has(one) || (one === strip && covered.row)) continue;
    delete one.dataset.covered;
    one.inert = false;
    if (one === strip || !one.matches(ANSWERS)) giveBack(one);
  }
  for (const one of wanted) {
    if (!one) continue;
    [one.dataset.covered, one.inert] = ["yes", true];
    withhold(one);
  }
  if (strip && covered.row) withhold(strip);
}

function says(block) {
  const contents = [...contentsOf(block).children].filter((one) => !one.matches(".bx-cover, [data-testid=status-tracker]"));
  return contents.some((one) => one.textContent.trim() || one.querySelector("canvas, svg"));
}

function addCover(block) {
  const cover = button(WORDS, () => show(block), { class: "bx-cover", "aria-expanded": "false", hidden: "" });
  block.append(cover);
  return cover;
}

/** A switch that hides or shows all answers. */
export function answersButton() {
  const look = { "aria-pressed": String(hidden()), "aria-keyshortcuts": "H", title: "Cover every answer until it is asked for (H)" };
  return button(el("span", {}, "Hide answers"), toggle, look);
}

/** Hide them if they were hidden before, and follow the page. */
export function watchAnswers() {
  if (stored(KEPT, "sessionStorage") === true) document.documentElement.dataset.answers = "hidden";
  const observer = new MutationObserver(() => changed());
  observer.observe(document.documentElement, CHANGES);
  watcher.observe = (fragment) => observer.observe(fragment, CHANGES);
  document.addEventListener("bert:covered", () => fit());
  document.addEventListener("input", () => changed());
  printed.addEventListener("change", () => fit());
  for (const [event, now] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(event, () => {
      printing = now;
      fit();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key?.toLowerCase() !== "h" || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (event.repeat || isTyping(event.target)) return;
    event.preventDefault();
    toggle();
  });
}
