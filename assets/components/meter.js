// The progress of long work: a sentence, and a thin bar below it.
import { el, plain } from "../shared/dom.js";
import { define } from "../shared/mounting.js";

define("Meter", ({ element, props }) => {
  const root = element.querySelector(".bx-meter");
  const text = el("span");
  const bar = el("progress", { max: 1, "aria-label": "progress" });
  root.append(text, bar);

  function draw() {
    const value = plain(props.value);
    text.textContent = value?.text ?? "";
    bar.hidden = !value?.text;
    if (typeof value?.share === "number") bar.value = value.share;
    else bar.removeAttribute("value");
  }

  return draw;
});
