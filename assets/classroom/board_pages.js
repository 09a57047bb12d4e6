// What the board shows: the questions to start with, a round, a head that is taught together, or an exercise.
import { percent } from "../arithmetic/labels.js";
import { visit } from "../link.js";
import { button, el, ours } from "../shared/dom.js";
import { bars, texts } from "./question.js";
import { act, classroom, place } from "./room.js";

export const QUESTIONS = {
  blank: ["Fill the blank", "Which word does BERT fill in?"],
  pair: ["Does B follow A?", "Does BERT take B for the sentence after A?"],
  target: ["Where does a head look?", "Which token does the chosen token look at most? First choose a head and a token on the page."],
};

/** The board while the class is asked nothing. */
export function startPage() {
  const asks = Object.entries(QUESTIONS).map(([kind, [title, about]]) =>
    el("li", {}, button(title, () => ask(kind), { "data-id": `ask-${kind}`, class: "bx-room-main" }), el("span", {}, about)));
  const form = el("form", {}, ...["happy", "sad", ""].map((label, index) =>
    el("label", {}, `Label ${index + 1}${label ? "" : ", if you like"}`, el("input", { name: `label-${index}`, value: label, maxlength: "30", autocomplete: "off" }))),
    el("button", { type: "submit", class: "bx-room-main", "data-id": "teach" }, "Teach together"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act("teach", { labels: [...new FormData(form).values()].filter((label) => label.trim()) });
  });
  return [
    el("h3", {}, "What will BERT guess?"),
    el("p", { class: "bx-room-quiet" }, "Everybody guesses before BERT answers. Double-click a word on the page to hide it, or type [MASK] here."),
    el("form", { class: "bx-room-texts" }, ...["a", "b"].map((name) =>
      el("label", {}, name.toUpperCase(), el("input", { name, value: textOf(name), autocomplete: "off" })))),
    el("ul", { class: "bx-room-asks" }, ...asks),
    el("h3", {}, "Teach a head together"),
    el("p", { class: "bx-room-quiet" }, "Everybody adds two examples of each label, the room trains one head on all of them, and then tries to fool it."),
    form,
  ];
}

// A text of the page; while the page is loading, of its link.
const textOf = (name) => document.querySelector(`#text-${name} textarea`)?.value ?? new URLSearchParams(place()).get(name) ?? "";

// Ask about the texts on the board; the page goes there too.
function ask(kind) {
  const asked = new URLSearchParams(place());
  for (const { name, value } of document.querySelectorAll("#room .bx-room-texts input")) {
    if (value.trim()) asked.set(name, value.trim());
    else asked.delete(name);
  }
  const query = asked.toString();
  if (query !== new URLSearchParams(place()).toString()) visit(query);
  act("ask", { kind, query });
}

// ---- A round.

/** The question, how many have answered, and, when the teacher shows them, the answers. */
export function roundPage(round) {
  return [
    el("h3", {}, round.asks),
    ...question(round),
    progress(round.guessed, "answered"),
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
  return [ours("div", { class: "bx-lesson-text" }, round.text), ...(round.shown ? [] : [el("ul", { class: "bx-room-options" }, ...round.options.map((one) => el("li", {}, one)))])];
}

// How many have done something.
const progress = (count, done) => el("p", { class: "bx-room-progress", role: "status" },
  el("span", {}, el("b", {}, `${count} of ${classroom.state.people.length}`), ` ${count === 1 ? "has" : "have"} ${done}.`));

function sides(round) {
  const most = Math.max(1, ...round.answers.map((one) => one.count));
  const count = (name) => round.answers.find((one) => one.name === name)?.count ?? 0;
  const named = round.kind === "lesson" ? round.options.map((name) => ({ name, count: count(name) })) : round.answers;
  const room = named.map((one) => ({ id: `room ${one.name}`, name: one.name, share: one.count / most, told: String(one.count), right: one.name === round.right }));
  if (round.kind === "lesson") return el("div", { class: "bx-room-lesson" }, bars("bx-room-bars", room));
  const best = (round.best ?? []).map(([name, share]) => ({ id: `bert ${name}`, name, share: share / round.best[0][1], told: percent(share) }));
  return el("div", { class: "bx-room-sides" },
    el("section", {}, el("h4", {}, "The room"), bars("bx-room-bars", room)),
    el("section", { class: "bx-room-bert" }, el("h4", {}, "BERT"), round.revealed ? bars("bx-room-bars", best) : el("p", { class: "bx-room-hidden" }, "?")));
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
  return [...(shown ? [] : [guesses]), reveal, button("Stop", () => act("stop"), { "data-id": "stop" })];
}

// ---- A head that the class teaches together, and an exercise.

/** The examples, the training, and the tries to fool the head. */
export function teachingPage(taught) {
  const strike = (one) => button("×", () => act("strike", { number: one.number }), { "data-id": `strike-${one.number}`, "aria-label": `Take out: ${one.text}` });
  const columns = taught.labels.map((label, index) =>
    el("section", {}, el("h4", {}, label, " ", el("small", {}, String(taught.counts[index]))),
      el("ul", { class: "bx-room-given" }, ...taught.examples.filter((one) => one.label === label).map((one) => el("li", {}, el("span", {}, one.text), strike(one))))));
  const tries = [...taught.tries].reverse().map((one) =>
    el("li", { class: one.fooled ? "bx-fooled" : null }, el("span", {}, el("b", {}, one.name), `: ${one.text}`, el("br"), `BERT says ${one.answer} (${percent(one.share)}), meant as ${one.meant}${one.fooled ? ": fooled!" : ""}`), strike(one)));
  const label = taught.busy ? "Training…" : taught.trained ? "Train again" : "Train the head";
  const train = button(label, () => act("train"), { "data-id": "train", class: "bx-room-main", ...(taught.busy || taught.missing ? { disabled: "" } : {}) });
  const quality = taught.trained ? `Trained on ${taught.trained_on} examples. Of examples that it did not learn from, it gets ${percent(taught.accuracy)} right.` : taught.missing || "Ready to be trained.";
  return [
    el("h3", {}, taught.trained ? "Fool it" : "Teach BERT together"),
    el("p", { class: "bx-room-quiet", role: "status" }, quality),
    ...(taught.trained ? [el("ul", { class: "bx-room-given bx-room-tries" }, ...tries)] : []),
    el("div", { class: "bx-room-sides" }, ...columns),
    el("nav", {}, train, button("End", () => act("stop"), { "data-id": "stop" })),
  ];
}

/** The exercise that the class is given. */
export function exercisePage(given) {
  return [
    el("h3", {}, "Make it so"),
    ours("p", { class: "bx-asked-text" }, given.asks),
    progress(given.solved.length, "done it"),
    given.solved.length ? el("p", { class: "bx-room-quiet" }, given.solved.join(", ")) : "",
    el("nav", {}, button("End", () => act("stop"), { "data-id": "stop", class: "bx-room-main" })),
  ];
}
