// One sentence for the reader.
import { define } from "../shared/mounting.js";

define("Notice", ({ element, props, settings }) => {
  const line = element.querySelector(".bx-notice");

  function draw() {
    const value = typeof props.value === "object" ? props.value ?? {} : { text: props.value };
    const wrong = value.kind === "error";
    line.setAttribute("role", wrong ? "alert" : "status");
    line.classList.toggle("bx-error", wrong);
    line.textContent = value.text ?? "";
  }

  line.classList.toggle("bx-keeps", Boolean(settings.keep_height));
  return draw;
});
