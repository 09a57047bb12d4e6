// What the board offers to start with: questions, and a head that is taught together.
import { visit } from "../link.js";
import { button, el } from "../shared/dom.js";
import { act, askRound, place } from "./room.js";

export const QUESTIONS = {
  blank: ["Fill the blank", "Which word does BERT fill in?"],
  pair: ["Does B follow A?", "Does BERT take B for the sentence after A?"],
  target: ["Where does a head look?", "Which token does the page’s token look at most, in the page’s head? Choose both on the page first."],
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
function textOf(name) {
  return document.querySelector(`#text-${name} textarea`)?.value ?? new URLSearchParams(place()).get(name) ?? "";
}

// Ask about the texts on the board; the page goes there too.
function ask(kind) {
  const asked = new URLSearchParams(place());
  for (const { name, value } of document.querySelectorAll("#room .bx-room-texts input")) {
    if (value.trim()) asked.set(name, value.trim());
    else asked.delete(name);
  }
  const query = asked.toString();
  if (query !== new URLSearchParams(place()).toString()) visit(query);
  askRound({ kind, query });
}
