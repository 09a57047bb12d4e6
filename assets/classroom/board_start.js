// What the board offers to start with: questions, a head that is taught together, and what was done before.
import { visit } from "../link.js";
import { button, el } from "../shared/dom.js";
import { exerciseList } from "./board_exercises.js";
import { LIMITS, pastRounds } from "./board_rounds.js";
import { act, askRound, changed, classroom, place, setSeconds } from "./room.js";

export const QUESTIONS = {
  blank: ["Fill the blank", "Which word does BERT put into the blank?"],
  pair: ["Does B follow A?", "Does BERT take B for the sentence after A?"],
  target: ["Where does a head look?", "Which token does a token look at most? First choose which one, and the head."],
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
    limit(),
    el("h3", {}, "Teach a head together"),
    el("p", { class: "bx-room-quiet" }, "Everybody adds two examples of each label, the room trains one head on all of them, and then tries to fool it."),
    form,
    ...pastRounds(classroom.state.past),
    ...exerciseList(classroom.state.exercises),
  ];
}

// A text of the page; while the page is loading, of its link.
function textOf(name) {
  return document.querySelector(`#text-${name} textarea`)?.value ?? new URLSearchParams(place()).get(name) ?? "";
}

function limit() {
  const choices = [0, ...LIMITS].map((seconds) => el("option", { value: String(seconds) }, seconds ? `${seconds} seconds` : "as long as it takes"));
  const box = el("select", { "data-id": "limit" }, ...choices);
  box.value = String(classroom.room.seconds ?? 0);
  box.addEventListener("change", () => setSeconds(Number(box.value)));
  return el("label", { class: "bx-room-limit" }, "Time for a round", box);
}

// ---- Asking about the texts on the board; the page goes there too.

function ask(kind) {
  const asked = new URLSearchParams(place());
  for (const { name, value } of document.querySelectorAll("#room .bx-room-texts input")) {
    if (value.trim()) asked.set(name, value.trim());
    else asked.delete(name);
  }
  if (kind === "target") chooseLook(asked.toString());
  else askAbout(kind, asked.toString());
}

function askAbout(kind, query) {
  if (query !== new URLSearchParams(place()).toString()) visit(query);
  askRound({ kind, query });
}

/**
 * Choose the head and the token of "Where does a head look?", beginning with those of a link.
 * @param {string} query of the link
 */
export function chooseLook(query) {
  act("look", { query }, (found) => (classroom.look = { query, ...found }));
}

/** The board while they are chosen. */
export function choosing(look) {
  const change = (name, value) => {
    look[name] = value;
    changed();
  };
  const tokens = look.tokens.map((text, index) => button(text, () => change("token", index), { "data-id": `token-${index}`, "aria-pressed": String(index === look.token) }));
  const stepper = (name, label, most) => {
    const box = el("select", { "data-id": name }, ...Array.from({ length: most }, (_, index) => el("option", {}, String(index + 1))));
    box.value = String(look[name]);
    box.addEventListener("change", () => change(name, Number(box.value)));
    return el("label", {}, label, box);
  };
  const go = () => {
    const asked = new URLSearchParams(look.query);
    for (const name of ["layer", "head", "token"]) asked.set(name, look[name]);
    classroom.look = null;
    askAbout("target", asked.toString());
  };
  const back = () => {
    classroom.look = null;
    changed();
  };
  return [
    el("h3", {}, "Where does a head look?"),
    el("p", { class: "bx-room-quiet" }, "The class picks the token that the marked one looks at most. Mark another one, or take another head."),
    el("p", { class: "bx-asked-text bx-room-tokens" }, ...tokens),
    el("p", { class: "bx-room-look" }, stepper("layer", "Layer", look.layers), stepper("head", "Head", look.heads)),
    el("nav", {}, button("Ask", go, { "data-id": "ask", class: "bx-room-main" }), button("Back", back, { "data-id": "back" })),
  ];
}
