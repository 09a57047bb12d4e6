// Texts with a number each, under a heading.
import { el, plain } from "../shared/dom.js";
import { define } from "../shared/mounting.js";

define("Ranking", ({ element, trigger, props }) => {
  const root = element.querySelector(".bx-ranking");

  const line = (row) =>
    el("button", { type: "button", "data-index": row.index },
      el("span", { class: "bx-name", title: row.text }, el("bdi", {}, row.text)),
      el("span", { class: "bx-figure" }, row.number));

  function draw() {
    const value = plain(props.value);
    root.replaceChildren();
    if (!value) return;
    root.append(el("h3", {}, value.heading), ...value.rows.map(line));
    if (value.note) root.append(el("p", {}, value.note));
  }

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) trigger("select", { index: Number(button.dataset.index), value: button.querySelector(".bx-name").textContent });
  });
  return draw;
});
