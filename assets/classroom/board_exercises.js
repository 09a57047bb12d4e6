// Exercises on the board: the one that the class is given, and all that were solved, by whom.
import { button, el } from "../shared/dom.js";
import { act, classroom } from "./room.js";

/** The exercise that the class is given. */
export function exercisePage(given) {
  const task = el("p", { class: "bx-asked-text" });
  task.innerHTML = given.asks; // from our own files: Markdown without HTML
  return [
    el("h3", {}, "Make it so"),
    task,
    el("p", { class: "bx-room-progress", role: "status" }, el("span", {}, el("b", {}, `${given.solved.length} of ${classroom.state.people.length}`), ` ${given.solved.length === 1 ? "has" : "have"} done it.`)),
    given.solved.length ? el("p", { class: "bx-room-quiet" }, given.solved.join(", ")) : null,
    el("nav", {}, button("End", () => act("stop"), { "data-id": "stop", class: "bx-room-main" })),
  ].filter(Boolean);
}

/** Those that were given or solved, the latest first. */
export function exerciseList(all) {
  if (!all.length) return [];
  const rows = [...all].reverse().map((one) => {
    const task = el("p", { class: "bx-room-quiet" });
    task.innerHTML = one.asks; // from our own files
    return el("details", { "data-id": `exercise-${one.name}` },
      el("summary", {}, el("span", {}, `Lesson ${one.lesson}`), el("small", {}, `${one.solved.length} done`)),
      task, el("p", {}, one.solved.join(", ") || "Nobody yet."));
  });
  return [el("h3", {}, "Exercises"), el("div", { class: "bx-room-past" }, ...rows)];
}
