// The most telling fact in a sentence, with a link to its reason. Screen readers hear it when it changes, not at every drawing.
import { el, plain } from "../shared/dom.js";
import { host } from "../shared/host.js";
import { define } from "../shared/mounting.js";

define("Finding", ({ element, trigger, props }) => {
  const root = element.querySelector(".bx-finding");
  const text = el("p", { role: "status" });
  const button = el("button", { type: "button", hidden: "" }, "see why →");
  root.append(text, button);

  function draw() {
    const value = plain(props.value || null);
    const now = value?.text ?? "";
    if (text.textContent !== now) text.textContent = now;
    root.classList.toggle("bx-without", Boolean(value?.none));
    host.page?.markFinding(text);
    button.hidden = !value?.why;
    button.title = value?.why ?? "";
  }

  button.addEventListener("click", () => trigger("select", { index: 0, value: text.textContent }));
  return draw;
});
