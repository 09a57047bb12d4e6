// A head that the class teaches together, on a phone: adding examples, then trying to fool it.
import { percent } from "../arithmetic/numbers.js";
import { button, el } from "../shared/dom.js";
import { act, fill, form, say } from "./phone.js";

export function drawTeaching(taught) {
  const { labels, mine, trained, tries } = taught;
  const key = `teaching ${JSON.stringify([labels, mine, taught.busy, trained, tries])}`;
  fill(key, () => (trained ? fooling(taught) : adding(taught)));
}

const choose = (labels) => el("fieldset", {}, el("legend", {}, "What is it?"), ...labels.map((label) =>
  el("label", { class: "bx-choice" }, el("input", { type: "radio", name: "label", value: label, required: "" }), label)));

const sentence = (label) => el("label", {}, label, el("textarea", { name: "text", rows: "2", maxlength: "200", required: "" }));

function adding({ labels, each, mine, busy }) {
  const rows = mine.map((one) =>
    el("li", {}, el("b", {}, one.label), ` ${one.text} `, button("take back", () => act("take-back", { number: one.number }).catch(() => {}), { class: "bx-small" })));
  const full = labels.every((label) => mine.filter((one) => one.label === label).length >= each);
  return [
    el("h1", {}, "Teach BERT together"),
    el("p", {}, `Give ${each} examples of each: ${labels.join(", ")}. The head learns from everybody’s.`),
    ...(busy ? [say("It is being trained…")] : full ? [say("Thank you; wait for the others.")] : [form([sentence("Your own sentence"), choose(labels)], "Add", (values) => act("example", values), ["text"])]),
    el("ul", { class: "bx-given" }, ...rows),
  ];
}

function fooling({ labels, tries, left }) {
  const rows = [...tries].reverse().map((one) =>
    el("li", { class: one.fooled ? "bx-right" : null }, one.text, el("br"), `BERT says ${one.answer} (${percent(one.share)}), you mean ${one.meant}: `, el("b", {}, one.fooled ? "fooled!" : "not fooled")));
  return [
    el("h1", {}, "Fool it"),
    el("p", {}, "Write a sentence whose label everybody would agree on, and which the head gets wrong."),
    ...(left > 0 ? [form([sentence(`A sentence; ${left} ${left === 1 ? "try" : "tries"} left`), choose(labels)], "Try", (values) => act("try", values), ["text"])] : [say("You have had all your tries.")]),
    el("ul", { class: "bx-given" }, ...rows),
  ];
}
