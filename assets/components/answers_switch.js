// The link to the guide and the switch that hides all answers, once for all tabs.
import { answersButton } from "../answers.js";
import { anchor } from "../arithmetic/labels.js";
import { idOf } from "../page/drawing.js";
import { el } from "../shared/dom.js";
import { define } from "../shared/mounting.js";

function address() {
  const tab = document.querySelector('gradio-app #tabs [role=tab][aria-selected="true"]');
  if (!tab) return "bx/guide";
  const choice = document.querySelector(`#${idOf(tab)}-view input:checked`)?.closest("label").textContent;
  return `bx/guide/${idOf(tab)}?__theme=${document.body.classList.contains("dark") ? "dark" : "light"}#${anchor(choice ?? "")}`;
}

// The link to the guide's section on what is open when it is used.
function guideLink() {
  const title = "BERT reads a whole text and guesses hidden words. Type, click a word to follow it, double-click it to hide it. Click here for the guide to this view";
  const link = el("a", { href: "bx/guide", target: "_blank", rel: "noopener", title, class: "bx-guide" }, el("span", {}, "Guide"));
  for (const kind of ["pointerenter", "focus", "click"]) link.addEventListener(kind, () => (link.href = address()));
  return link;
}

define("AnswersSwitch", ({ element }) => {
  element.querySelector(".bx-answers").append(guideLink(), answersButton());
  return () => {};
});
