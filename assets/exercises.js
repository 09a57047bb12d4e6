// The exercise of a lesson's step in the panel: its task, its check by the server, and the link that proves it.
import { linkState, visit } from "./link.js";
import { quiet } from "./page/busy.js";
import { typingState } from "./page/typing.js";
import { check, proof } from "./shared/checking.js";
import { button, el } from "./shared/dom.js";
import { keptSeat } from "./shared/seat.js";
import { store, stored } from "./shared/storage.js";
import { copyFrom } from "./take.js";

const KEPT = "bert-exercises"; // key in localStorage: { name: query of the link to what solved it }
const TYPED = 150; // ms until what was typed last is on its way to the server
const PATIENCE = 10_000; // ms to wait for the page to show it
const LOADING = "The page is still loading; check it in a moment.";
const CHECKING = "It is being checked…";
const BEFORE = "You have done this one.";

const solved = () => stored(KEPT) ?? {};

/**
 * How many exercises a lesson has, and how many of them this browser has seen done.
 * @param {{steps: {exercise: {name: string} | null}[]}} lesson
 */
export function exercisesOf(lesson) {
  const names = lesson.steps.flatMap(({ exercise }) => (exercise ? [exercise.name] : []));
  const mine = solved();
  return { all: names.length, done: names.filter((name) => Object.hasOwn(mine, name)).length };
}

/**
 * The exercise of a step, "" if it has none.
 * @param {{query: string, exercise: {name: string, task: string} | null}} step
 */
export function exercise({ query, exercise }) {
  if (!exercise) return "";
  const { name, task } = exercise;
  const id = `exercise-${name.replaceAll(".", "-")}`;
  const mark = el("span", { class: "bx-exercise-mark" });
  const words = el("p");
  words.innerHTML = task; // from our own files: Markdown without HTML
  const said = el("p", { class: "bx-exercise-said", role: "status" });
  const shown = el("div", { class: "bx-exercise-proof" });
  const checking = button("Check", () => checkNow(name, box, said, done), { class: "bx-exercise-check" });
  const back = button("Back to the task", () => visit(query));
  const box = el("section", { class: "bx-exercise", "aria-labelledby": id }, el("h4", { id }, "Make it so", mark), words,
    el("div", { class: "bx-exercise-do" }, checking, back), said, shown);
  const done = (found) => {
    mark.textContent = "✓ done";
    shown.replaceChildren(...linkOf(proof(name, found, location.origin + location.pathname), said));
  };
  const before = solved()[name];
  if (before) {
    said.textContent = BEFORE;
    done(before);
  }
  return box;
}

// Resolves when the page shows what was typed and where it was sent: its link then has the texts of the boxes.
async function caughtUp() {
  const shows = () => {
    if (typingState.arriving) return false;
    const link = new URLSearchParams(linkState.query ?? "");
    return ["a", "b"].every((name) => (document.querySelector(`#text-${name} textarea`)?.value ?? "") === (link.get(name) ?? ""));
  };
  const until = performance.now() + PATIENCE;
  do {
    await new Promise((go) => setTimeout(go, TYPED));
    await quiet();
  } while (!shows() && performance.now() < until);
}

// Check what the page shows once it is at rest, and tell the outcome.
async function checkNow(name, box, said, done) {
  if (box.dataset.checking) return;
  box.dataset.checking = "yes";
  said.textContent = CHECKING;
  box.scrollIntoView({ block: "nearest" }); // in the panel; there is room for what is told, so that nothing moves then
  try {
    await caughtUp();
    if (linkState.query === null) throw new Error(LOADING);
    const found = await check(name, linkState.query);
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
  const seat = keptSeat();
  if (!seat?.token) return "";
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${seat.token}` };
  const body = JSON.stringify({ exercise: name, query });
  const answer = await fetch(`bx/rooms/${seat.word}/exercise`, { method: "POST", headers, body }).catch(() => null);
  if ([403, 404].includes(answer?.status)) return ""; // that room is over
  return answer?.ok ? " Your room has the result." : " The result did not reach your room. Check once more.";
}

// In a box to copy from: browsers give the clipboard to secure addresses only.
function linkOf(address, said) {
  const box = el("input", { type: "text", readonly: "", value: address, "aria-label": "Link to what solved it" });
  return [box, button("Copy link", () => copyFrom(box, said))];
}
