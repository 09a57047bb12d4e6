// The model as boxes, from the input at the top to the heads; a click opens the tab about a box.
import { el, plain } from "../shared/dom.js";
import { host } from "../shared/host.js";
import { define } from "../shared/mounting.js";

define("Architecture", ({ element, props }) => {
  const root = element.querySelector(".bx-architecture");

  function box({ name, size, weights, tab, choice }) {
    const lines = [el("b", {}, name), el("span", {}, size), el("span", { class: "bx-note" }, weights)];
    if (!tab) return el("div", { class: "bx-box" }, ...lines);
    const button = el("button", { type: "button", class: "bx-box", title: `Open ${choice ? `${tab}, ${choice}` : tab}` }, ...lines);
    button.addEventListener("click", () => host.page?.open(tab, choice));
    return button;
  }

  function stage({ blocks, times, note, between }) {
    const boxes = blocks.map(box);
    if (!times) return el("div", { class: "bx-stage" }, ...boxes);
    const repeated = el("div", { class: "bx-times" }, el("b", {}, `× ${times}`), el("span", {}, "layers"), note ? el("span", {}, note) : null);
    return el("div", { class: "bx-stage bx-repeated" }, el("div", { class: "bx-layer" }, ...boxes.flatMap((one) => [one, el("div", { class: "bx-add" }, between)])), repeated);
  }

  function draw() {
    const value = plain(props.value || null);
    root.replaceChildren(...(value?.stages ?? []).map(stage));
  }

  return draw;
});
