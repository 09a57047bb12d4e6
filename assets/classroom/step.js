// A lesson's step that the class is asked: while phones follow, the panel shows how many have answered, then what.
import { button, el } from "../shared/dom.js";
import { showBoard } from "./board.js";
import { QUESTIONS } from "./board_start.js";
import { left } from "./question.js";
import { act, askRound, classroom } from "./room.js";

const seen = new Set(); // "lesson.number" of the steps whose answer the class has seen
let step = null; // { lesson, number, options, rest, tell }: the step that the panel shows
let given = null; // { name, give, told }: the exercise in the panel while a room is open, its button and its count
let stage = ""; // what `rest` was built for

/** Whether the class is asked a step, not whoever sits at this page. */
export function asksClass(lesson, at) {
  return Boolean(classroom.room?.following && lesson.steps[at].options.length && !classHasSeen(lesson, at));
}

/** Whether the class has seen the answer of a step. */
export function classHasSeen(lesson, at) {
  return seen.has(`${lesson.name}.${at + 1}`);
}

/** While a room is open, a button for the round that fits a step. */
export function roundButton({ round }) {
  if (!classroom.room || !round) return "";
  const open = () => {
    showBoard();
    askRound(round);
  };
  return button(`Round on the board: ${QUESTIONS[round.kind][0]}`, open, { class: "bx-class-round" });
}

/** While a room is open, a button that gives the class a step's exercise, and how many have done it. */
export function exerciseButton({ exercise }) {
  given = null;
  if (!classroom.room || !exercise) return "";
  const { name } = exercise;
  const give = button("Give it to the class", () => (isGiven(name) ? showBoard() : act("give", { exercise: name })), { class: "bx-class-do" });
  const told = el("span", { role: "status" });
  given = { name, give, told };
  countDone();
  return el("div", { class: "bx-class-exercise" }, give, told);
}

const isGiven = (name) => classroom.state?.exercise?.name === name;

function countDone() {
  if (!given) return;
  const { give, name, told } = given;
  const known = classroom.state?.exercises.find((one) => one.name === name);
  give.textContent = isGiven(name) ? "On the board" : "Give it to the class";
  told.textContent = known ? `${known.solved.length} of ${classroom.state.people.length} have done it.` : "";
}

/** Ask the class. `rest` is where the panel shows it, and tell() shows the answer there. */
export function askClass(lesson, at, rest, tell) {
  step = { lesson: lesson.name, number: at + 1, options: lesson.steps[at].options, rest, tell };
  stage = "";
  if (asked()) draw(); // it is asked already: the page was loaded again
  else ask();
}

function ask() {
  askRound({ kind: "lesson", lesson: step.lesson, step: step.number });
}

/** The panel shows another step, or none: the class is no longer asked this one. */
export function leaveClass() {
  const was = step;
  step = null;
  if (!classroom.room) return;
  const { exercise, round } = classroom.state ?? {};
  if (exercise || (was && (round?.kind ?? "lesson") === "lesson")) act("stop");
}

// The room is over.
function forget() {
  const was = step;
  step = given = null;
  seen.clear();
  if (was) document.dispatchEvent(new CustomEvent("bert:asked"));
}

// The question of this step, if it is what the room is at.
function asked() {
  const round = classroom.state?.round;
  return round?.kind === "lesson" && round.lesson === step?.lesson && round.step === step.number ? round : null;
}

function draw() {
  countDone();
  if (!step?.rest.isConnected || seen.has(`${step.lesson}.${step.number}`)) return;
  const round = asked();
  if (round?.revealed) {
    seen.add(`${round.lesson}.${round.step}`);
    tellAndCount(round);
    return;
  }
  const now = JSON.stringify([round?.number, round?.shown, round?.open, round?.until, classroom.wrong]);
  if (now !== stage) build(round); // a button that is about to be pressed stays otherwise
  stage = now;
  const told = step.rest.querySelector("[data-told]");
  if (told && round) told.textContent = `${round.guessed} of ${classroom.state.people.length} have answered.`;
}

async function tellAndCount(round) {
  const told = step;
  await told.tell();
  if (step === told) count(round);
}

function build(round) {
  const { rest, options } = step;
  const wrong = classroom.wrong ? [el("p", { role: "alert" }, classroom.wrong)] : [];
  const press = (text, then, kind = "") => button(text, then, { class: `bx-class-do ${kind}`.trim() });
  const listed = options.map((one) => el("p", { class: "bx-lesson-option" }, one));
  if (!round) return rest.replaceChildren(...wrong, ...listed, press("Ask the class", ask, "bx-class-main"));
  const guesses = round.shown ? [] : [press("Show the answers", () => act("guesses"), "bx-class-main")];
  const reveal = press("Show which is right", () => act("reveal"), round.shown ? "bx-class-main" : "");
  const board = press("On the board", showBoard);
  const progress = el("p", { class: "bx-class-progress", role: "status" }, el("span", { "data-told": "" }), left(round));
  rest.replaceChildren(...wrong, ...listed, progress, el("div", { class: "bx-class-steps" }, ...guesses, reveal, board));
  if (round.shown) count(round);
}

// How many chose each option.
function count(round) {
  [...step.rest.querySelectorAll(".bx-lesson-option")].forEach((box, index) => {
    const chosen = round.answers.find((one) => one.name === step.options[index])?.count ?? 0;
    box.append(el("em", {}, String(chosen)));
  });
}

document.addEventListener("bert:room", () => {
  if (!classroom.room) forget();
  else if (classroom.state) draw();
});
