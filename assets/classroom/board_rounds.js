// A round on the board: the question, how many have answered, and, when the teacher shows them, the answers.
import { button, el } from "../shared/dom.js";
import { texts } from "./question.js";
import { act, classroom } from "./room.js";

export function roundPage(round) {
  return [
    el("h3", {}, round.asks),
    ...question(round),
    progress(round),
    ...(round.shown ? [sides(round)] : []),
    ...(round.revealed ? [closest(round)] : []),
    el("nav", {}, ...steps(round)),
  ];
}

function question(round) {
  if (round.kind === "target") {
    return [el("p", { class: "bx-asked-text bx-room-tokens" }, ...round.options.map((text, index) => el("span", { class: index === round.asked ? "bx-asks" : null }, text)))];
  }
  if (round.kind !== "lesson") return texts(round);
  const text = el("div", { class: "bx-lesson-text" });
  text.innerHTML = round.text; // from our own files: Markdown without HTML
  return [text, ...(round.shown ? [] : [el("ul", { class: "bx-room-options" }, ...round.options.map((one) => el("li", {}, one)))])];
}

// How many have answered, and for how long the others still may.
function progress(round) {
  const here = classroom.state.people.length;
  const told = el("b", {}, `${round.guessed} of ${here}`);
  return el("p", { class: "bx-room-progress", role: "status" }, el("span", {}, told, ` ${round.guessed === 1 ? "has" : "have"} answered.`));
}

function bars(rows) {
  return el("ol", { class: "bx-room-bars" }, ...rows.map(({ id, name, share, told, right }) =>
    el("li", { class: right ? "bx-right" : null }, el("span", {}, name, right ? " ✓" : null), el("i", { "data-bar": id, style: `width:${(100 * share).toFixed(1)}%` }), el("em", {}, told))));
}

function sides(round) {
  const most = Math.max(1, ...round.answers.map((one) => one.count));
  const count = (name) => round.answers.find((one) => one.name === name)?.count ?? 0;
  const named = round.kind === "lesson" ? round.options.map((name) => ({ name, count: count(name) })) : round.answers;
  const room = named.map((one) => ({ id: `room ${one.name}`, name: one.name, share: one.count / most, told: String(one.count), right: one.name === round.right }));
  if (round.kind === "lesson") return el("div", { class: "bx-room-lesson" }, bars(room));
  const best = (round.best ?? []).map(([name, share]) => ({ id: `bert ${name}`, name, share: share / round.best[0][1], told: `${Math.round(100 * share)}%` }));
  return el("div", { class: "bx-room-sides" },
    el("section", {}, el("h4", {}, "The room"), bars(room)),
    el("section", { class: "bx-room-bert" }, el("h4", {}, "BERT"), round.revealed ? bars(best) : el("p", { class: "bx-room-hidden" }, "?")));
}

function closest({ kind, closest, answers, right, guessed }) {
  if (kind === "lesson") return el("p", { class: "bx-room-closest" }, `${answers.find((one) => one.name === right)?.count ?? 0} of ${guessed} are right.`);
  if (!closest.length) return el("p", {}, "No guess is among BERT’s answers.");
  const told = closest.flatMap(([name, guess, rank], index) => [index ? ", " : "", el("b", {}, name), ` (“${guess}”, number ${rank})`]);
  return el("p", { class: "bx-room-closest" }, "Closest: ", ...told, ".");
}

// What the teacher may do next.
function steps({ kind, shown, revealed }) {
  if (revealed) return [button("Next", () => act("stop"), { "data-id": "next", class: "bx-room-main" })];
  const guesses = button("Show the room’s answers", () => act("guesses"), { "data-id": "guesses", class: "bx-room-main" });
  const reveal = button(kind === "lesson" ? "Show the right answer" : "Show BERT’s answer", () => act("reveal"), { "data-id": "reveal", class: shown ? "bx-room-main" : null });
  const stop = button("Stop", () => act("stop"), { "data-id": "stop" });
  return [...(shown ? [] : [guesses]), reveal, stop];
}
