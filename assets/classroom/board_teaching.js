// A head that the class teaches together, on the board: the examples, the training, and the tries to fool it.
import { button, el } from "../shared/dom.js";
import { act } from "./room.js";

export function teachingPage(taught) {
  const strike = (one) => button("×", () => act("strike", { number: one.number }), { "data-id": `strike-${one.number}`, "aria-label": `Take out: ${one.text}` });
  const columns = taught.labels.map((label, index) =>
    el("section", {}, el("h4", {}, label, " ", el("small", {}, String(taught.counts[index]))),
      el("ul", { class: "bx-room-given" }, ...taught.examples.filter((one) => one.label === label).map((one) => el("li", {}, el("span", {}, one.text), strike(one))))));
  const tries = [...taught.tries].reverse().map((one) =>
    el("li", { class: one.fooled ? "bx-fooled" : null }, el("span", {}, el("b", {}, one.name), `: ${one.text}`, el("br"), `BERT says ${one.answer} (${Math.round(100 * one.share)}%), meant as ${one.meant}${one.fooled ? ": fooled!" : ""}`), strike(one)));
  const label = taught.busy ? "Training…" : taught.trained ? "Train again" : "Train the head";
  const train = button(label, () => act("train"), { "data-id": "train", class: "bx-room-main", ...(taught.busy || taught.missing ? { disabled: "" } : {}) });
  const quality = taught.trained ? `Trained on ${taught.trained_on} examples. Of examples that it did not learn from, it gets ${Math.round(100 * taught.accuracy)}% right.` : taught.missing || "Ready to be trained.";
  return [
    el("h3", {}, taught.trained ? "Fool it" : "Teach BERT together"),
    el("p", { class: "bx-room-quiet", role: "status" }, quality),
    ...(taught.trained ? [el("ul", { class: "bx-room-given bx-room-tries" }, ...tries)] : []),
    el("div", { class: "bx-room-sides" }, ...columns),
    el("nav", {}, train, button("End", () => act("stop"), { "data-id": "stop" })),
  ];
}
