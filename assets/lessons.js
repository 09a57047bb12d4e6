// Lessons beside the page: each step sets texts and view, points at an element, asks, and explains after the answer.
import { showIn } from "./answers.js";
import { forClass, roomEntry } from "./classroom/board.js";
import { classroom } from "./classroom/room.js";
import { exercise, exercisesOf } from "./exercises.js";
import { markTerms } from "./glossary/terms.js";
import { linkState, visit } from "./link.js";
import { addExample, put, texts as typed } from "./page/boxes.js";
import { cover, named, point } from "./page/pointing.js";
import { ask as request } from "./shared/asking.js";
import { button, el, ours } from "./shared/dom.js";
import { store, stored } from "./shared/storage.js";

const ADDRESS = "bx/lessons.json";
const SHEETS = { handout: "Hand-out", teacher: "Teacher’s sheet" }; // to print
const KEPT = "bert-lessons"; // key in localStorage: { name: { at, answers: { step: option } } }
const PATIENCE = 20_000; // ms to wait for the page
const FAILED = "The lessons could not be fetched. Try again in a moment.";

let lessons = null;
let box = null; // the panel while it is open
let now = null; // [lesson, number from 0] of the step in it
let before = null; // what the page showed before the lesson, given back after it: { query, texts }; null where a link led to the lesson
let opener = null; // gets the focus back when the panel closes

// ---- What the browser keeps.

const progress = () => stored(KEPT) ?? {};
const keep = (name, at, answers) => store(KEPT, { ...progress(), [name]: { at, answers } });

// ---- The panel.

export const toggle = () => (box ? close() : open());

/** Open the panel, `at` a lesson's name or a step such as 03-one-head.2; if it `stays`, the page is left as it is. */
export async function open(at = "", stays = false) {
  if (!box) {
    opener = document.activeElement;
    box = el("aside", { id: "lessons", "aria-labelledby": "lessons-title", tabindex: "-1" });
    document.body.append(box);
    document.body.dataset.lessons = "open";
    document.getElementById("open-lessons")?.setAttribute("aria-expanded", "true");
    box.addEventListener("keydown", (event) => event.key === "Escape" && close());
  }
  lessons ??= (await request(ADDRESS).catch(() => null))?.lessons ?? null;
  if (!box) return; // closed meanwhile
  const [name, step] = at.split(".");
  const lesson = lessons?.find((one) => one.name === name);
  if (!lessons) cover("");
  if (!lessons) fill(head("Lessons"), el("p", { role: "alert" }, FAILED));
  else if (lesson) show(lesson, Math.min(lesson.steps.length, Math.max(1, Number(step) || 1)) - 1, stays);
  else list();
}

export function close() {
  leave();
  box?.remove();
  box = null;
  delete document.body.dataset.lessons;
  const entry = document.getElementById("open-lessons");
  entry?.setAttribute("aria-expanded", "false");
  (opener?.isConnected ? opener : entry)?.focus();
}

function fill(...parts) {
  box.replaceChildren(...parts);
  box.scrollTop = 0;
  box.focus({ preventScroll: true });
}

// With `lesson`, an open lesson, the head has a way back and links to its sheets.
function head(title, lesson) {
  const out = lesson ? button("‹ All lessons", list, { class: "bx-lesson-out" }) : null;
  const mine = Object.entries(SHEETS).filter(([sheet]) => lesson && (sheet === "handout" || classroom.room)); // answers are for teachers
  const sheets = mine.map(([sheet, label]) => el("a", { href: `bx/lessons/${encodeURIComponent(lesson.name)}/${sheet}.html`, target: "_blank", rel: "noopener" }, label));
  const away = button("×", close, { class: "bx-lesson-close", "aria-label": "Close the lessons" });
  return el("header", {}, out, ...sheets, away, el("h2", { id: "lessons-title" }, title));
}

// No step is shown any more: the page shows again what it did before the lesson.
function leave() {
  point(null);
  now = null;
  const { query, texts: own = [] } = before ?? {};
  before = null;
  if (query) visit(query, "&back=lesson");
  else ["a", "b"].forEach((name, index) => own[index] !== undefined && put(name, own[index]));
}

// Go to a step, and keep what the page shows, unless it is a step of this lesson.
function setOut(query) {
  const here = linkState.visiting ?? linkState.query;
  if (!now && here !== query) before = { query: here, texts: typed() };
  const asked = new URLSearchParams(query);
  addExample(asked.get("a") ?? "", asked.get("b") ?? "");
  visit(query);
}

function list() {
  leave();
  const kept = progress();
  const items = lessons.map((lesson) => {
    const been = kept[lesson.name]?.at ?? -1;
    const steps = lesson.steps.length;
    const how = been < 0 ? `${lesson.minutes ? `${lesson.minutes} min, ` : ""}${steps} steps` : been >= steps ? "✓ done" : `at ${been + 1} of ${steps}`;
    const { all, done } = exercisesOf(lesson);
    const solved = done ? ` · exercise${all > 1 ? ` ${done} of ${all}` : ""} ✓` : "";
    const entry = button(el("b", {}, `${lesson.number} · ${lesson.title}`), () => show(lesson, been >= steps ? 0 : Math.max(0, been)));
    entry.append(el("small", {}, how + solved), el("span", {}, lesson.about));
    return el("li", {}, entry);
  });
  const about = "Each lesson sets the page for you and asks you to guess first. Change what you like on the way.";
  fill(head("Lessons"), el("p", { class: "bx-lesson-about" }, about), roomEntry(), el("ol", { class: "bx-lesson-list" }, ...items));
}

// ---- A step.

function show(lesson, at, stays = false) {
  const step = lesson.steps[at];
  const answers = progress()[lesson.name]?.answers ?? {};
  keep(lesson.name, at, answers);
  const text = ours("div", { class: "bx-lesson-text" }, step.before);
  const rest = el("div", { class: "bx-lesson-rest", "aria-live": "polite" });
  const answer = (chosen) => tell(rest, lesson, at, chosen);
  fill(head(`${lesson.number} · ${lesson.title}`, lesson), where(lesson, at), el("h3", {}, step.title), text, ...forClass(lesson, at), rest, exercise(step), steps(lesson, at));
  markTerms(text);
  const told = answers[at] !== undefined || !step.answered;
  if (stays) requestAnimationFrame(() => box?.querySelector(".bx-exercise")?.scrollIntoView({ block: "nearest" })); // below all else
  else setOut(step.query);
  now = [lesson, at];
  point(step.point, told ? "" : step.cover, step.spot);
  if (told) return answer(answers[at]);
  const choose = async (chosen) => {
    keep(lesson.name, at, { ...progress()[lesson.name]?.answers, [at]: chosen });
    await answer(chosen);
    rest.scrollIntoView({ block: "nearest" }); // in the panel
  };
  const options = step.options.length ? step.options : ["Show"];
  rest.replaceChildren(...options.map((text, index) => button(text, () => choose(index), { class: "bx-lesson-option" })));
}

function where(lesson, at) {
  const dots = lesson.steps.map((_, index) => el("i", { class: index < at ? "bx-past" : index === at ? "bx-now" : null }));
  return el("p", { class: "bx-lesson-where" }, el("span", { "aria-hidden": "true" }, ...dots), `Step ${at + 1} of ${lesson.steps.length}${lesson.steps[at].minutes ? `, ${lesson.steps[at].minutes} min` : ""}`);
}

// Fetch the answer of a step, which the page does not have before it is asked for, and show it.
async function tell(rest, lesson, at, chosen) {
  const step = lesson.steps[at];
  const found = await request(`bx/lessons/${encodeURIComponent(lesson.name)}/${at + 1}.json`).catch(() => null);
  if (!rest.isConnected) return; // another step is shown
  if (!found) return rest.replaceChildren(el("p", { role: "alert" }, FAILED), button("Show", () => tell(rest, lesson, at, chosen), { class: "bx-lesson-option" }));
  const option = found.options[chosen];
  const shown = found.options.map((one, index) => {
    const [sign, kind] = one.right ? ["✓", "bx-right"] : index === chosen ? ["✗", "bx-wrong"] : ["", ""];
    return el("p", { class: `bx-lesson-option ${kind}` }, step.options[index], sign ? el("b", {}, sign) : null);
  });
  const feedback = option && ours("p", { class: "bx-lesson-feedback" }, `<b>${option.right ? "Yes." : "Not quite."}</b> ${option.feedback}`);
  const texts = [feedback, ours("div", { class: "bx-lesson-text" }, found.after)].filter(Boolean);
  rest.replaceChildren(...shown, ...texts);
  for (const text of texts) markTerms(text, box);
  if (at === lesson.steps.length - 1) rest.append(el("p", { class: "bx-lesson-sources" }, `Sources: ${lesson.sources.join("; ")}.`));
  if (!step.cover) return;
  point(step.point, "", step.spot);
  showIn(named(step.cover)); // the user asked for it
}

function steps(lesson, at) {
  const last = at === lesson.steps.length - 1;
  const back = button("‹ Back", () => show(lesson, at - 1), { disabled: at === 0 ? "" : null });
  const next = button(last ? "Done" : "Next ›", () => (last ? end(lesson) : show(lesson, at + 1)), { class: "bx-lesson-next" });
  return el("nav", { "aria-label": "Steps" }, back, next);
}

function end(lesson) {
  keep(lesson.name, lesson.steps.length, progress()[lesson.name]?.answers ?? {});
  list();
}

/** A link may lead to a step, #lesson=03-one-head.2, or show what solved its exercise, #exercise=03-one-head.1 */
export function openLinkedStep() {
  addEventListener("DOMContentLoaded", () => {
    const [, kind, asked] = /^#(lesson|exercise)=([\w.-]+)$/.exec(location.hash) ?? [];
    if (!asked) return;
    cover("view"); // until it is known what the step covers
    const until = performance.now() + PATIENCE;
    const there = setInterval(() => {
      if (!document.querySelector("#strip .bx-token") && performance.now() < until) return;
      clearInterval(there);
      open(asked, kind === "exercise");
    }, 100);
  });
}
