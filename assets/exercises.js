// The exercise of a lesson's step in the panel: its task, its check by the server, and the link that proves it.
import { linkState, visit } from "./link.js";
import { quiet, typingState } from "./page/typing.js";
import { ask } from "./shared/asking.js";
import { button, el, ours } from "./shared/dom.js";
import { SEAT, store, stored } from "./shared/storage.js";
import { copyFrom } from "./take.js";

const KEPT = "bert-exercises"; // key in localStorage: { name: query of the link to what solved it }
const TYPED = 150; // ms until what was typed last is on its way to the server
const PATIENCE = { page: 10_000, check: 60_000 }; // ms to wait for the page to show it; the first check loads the model, and some train a head
const LOADING = "The page is still loading. Check it in a moment.";

const solved = () => stored(KEPT) ?? {};

/** How many exercises a lesson has, and how many of them this browser has seen done. */
export function exercisesOf(lesson) {
  const names = lesson.steps.flatMap(({ exercise }) => (exercise ? [exercise.name] : []));
  const mine = solved();
  return { all: names.length, done: names.filter((name) => Object.hasOwn(mine, name)).length };
}

/** The exercise of a step, "" if it has none. */
export function exercise({ query, exercise }) {
  if (!exercise) return "";
  const { name, task } = exercise;
  const id = `exercise-${name.replaceAll(".", "-")}`;
  const mark = el("span", { class: "bx-exercise-mark" });
  const said = el("p", { class: "bx-exercise-said", role: "status" });
  const shown = el("div", { class: "bx-exercise-proof" });
  const checking = button("Check", () => checkNow(name, box, said, done), { class: "bx-exercise-check" });
  const back = button("Back to the task", () => visit(query));
  const box = el("section", { class: "bx-exercise", "aria-labelledby": id }, el("h4", { id }, "Make it so", mark), ours("p", {}, task),
    el("div", { class: "bx-exercise-do" }, checking, back), said, shown);
  const done = (found) => {
    mark.textContent = "✓ done";
    const address = `${location.origin}${location.pathname}?${found}#exercise=${name}`;
    const link = el("input", { type: "text", readonly: "", value: address, "aria-label": "Link to what solved it" }); // browsers give the clipboard to secure addresses only
    shown.replaceChildren(link, button("Copy link", () => copyFrom(link, said)));
  };
  const before = solved()[name];
  if (before) done(before);
  if (before) said.textContent = "You have done this one.";
  return box;
}

// Resolves when the page shows what was typed and where it was sent: its link then has the texts of the boxes.
async function caughtUp() {
  const shows = () => {
    if (typingState.arriving) return false;
    const link = new URLSearchParams(linkState.query ?? "");
    return ["a", "b"].every((name) => (document.querySelector(`#text-${name} textarea`)?.value ?? "") === (link.get(name) ?? ""));
  };
  const until = performance.now() + PATIENCE.page;
  do {
    await new Promise((go) => setTimeout(go, TYPED));
    await quiet();
  } while (!shows() && performance.now() < until);
}

// Check what the page shows once it is at rest, and tell the outcome.
async function checkNow(name, box, said, done) {
  if (box.dataset.checking) return;
  box.dataset.checking = "yes";
  said.textContent = "It is being checked…";
  box.scrollIntoView({ block: "nearest" }); // in the panel; there is room for what is told, so that nothing moves then
  try {
    await caughtUp();
    if (linkState.query === null) throw new Error(LOADING);
    const found = await ask(`bx/exercises/${encodeURIComponent(name)}?${linkState.query}`, { patience: PATIENCE.check });
    said.textContent = found.told;
    if (found.done) {
      store(KEPT, { ...solved(), [name]: found.query });
      done(found.query);
      said.textContent += await report(name, found.query);
    }
  } catch (error) {
    said.textContent = error.message;
  }
  delete box.dataset.checking;
}

// Tell the room in which this browser has a seat, which checks it again. Resolves to a sentence about it, "" without a seat.
async function report(name, query) {
  const seat = stored(SEAT);
  if (!seat?.token) return "";
  try {
    await ask(`bx/rooms/${seat.word}/exercise`, { token: seat.token, body: { exercise: name, query } });
    return " Your room has the result.";
  } catch ({ status }) {
    return [403, 404].includes(status) ? "" : " The result did not reach your room. Check once more."; // that room may be over
  }
}
