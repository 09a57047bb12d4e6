// Short texts in a line, each one a button.
import { el, plain } from "../shared/dom.js";
import { define } from "../shared/mounting.js";

define("Chips", ({ element, trigger, props }) => {
  const root = element.querySelector(".bx-chips");

  function draw() {
    const value = plain(props.value || null);
    root.replaceChildren();
    if (!value) return;
    root.setAttribute("aria-label", value.label);
    root.classList.toggle("bx-back", value.kind === "back");
    const chip = (text, index) => el("button", { type: "button", "data-index": index, "aria-pressed": value.pressed?.[index] }, el("bdi", {}, text));
    root.append(el("span", {}, value.label), ...value.chips.map(chip));
  }

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) trigger("select", { index: Number(button.dataset.index), value: button.textContent });
  });
  return draw;
});
