// What a lesson's step offers a class while a room is open: its question, the round that fits it, and its exercise.
import { button, el } from "../shared/dom.js";
import { showBoard } from "./board.js";
import { QUESTIONS } from "./board_start.js";
import { act, askRound, classroom } from "./room.js";

let given = null; // { name, give, told }: the exercise in the panel, its button and its count

/** The buttons of a step; none without a room. */
export function forClass(lesson, at) {
  const { exercise, options, round } = lesson.steps[at];
  given = null;
  if (!classroom.room) return [];
  const asking = (text, question) => button(text, () => (askRound(question), showBoard()), { class: "bx-class-round" });
  const question = options.length ? asking("Ask the class", { kind: "lesson", lesson: lesson.name, step: at + 1 }) : "";
  return [question, round ? asking(`Round on the board: ${QUESTIONS[round.kind][0]}`, round) : "", exercise ? exerciseButton(exercise) : ""];
}

// A button that gives the class an exercise, and how many have done it.
function exerciseButton({ name }) {
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

document.addEventListener("bert:room", () => {
  if (classroom.room) return countDone();
  given = null;
  for (const one of document.querySelectorAll("#lessons :is(.bx-class-round, .bx-class-exercise)")) one.remove();
});
