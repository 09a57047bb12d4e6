// The exercise that the class is given, on the board, and who has solved it.
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
