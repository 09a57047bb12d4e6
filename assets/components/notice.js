// One sentence for the reader. An error hides the pictures that it stands for: what they show is of an earlier input.
import { define } from "../shared/mounting.js";

define("Notice", ({ element, props, settings }) => {
  const line = element.querySelector(".bx-notice");

  let hides = [];

  function hide(ids) {
    for (const one of hides) delete one.dataset.wrong;
    hides = ids.map((id) => document.getElementById(id)).filter(Boolean);
    for (const one of hides) one.dataset.wrong = "yes";
  }

  function draw() {
    const value = typeof props.value === "object" ? props.value ?? {} : { text: props.value };
    const wrong = value.kind === "error";
    line.setAttribute("role", wrong ? "alert" : "status");
    line.classList.toggle("bx-error", wrong);
    line.textContent = value.text ?? "";
    hide([...(value.hides ?? [])]);
  }

  line.classList.toggle("bx-keeps", Boolean(settings.keep_height));
  return draw;
});
