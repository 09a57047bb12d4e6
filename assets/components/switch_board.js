// Layers × heads as switches, coloured by the effect of switching each off; a layer's number switches all its heads.
import { el, plain, rove } from "../shared/dom.js";
import { gridKeys, placeHeads } from "../shared/grid.js";
import { define } from "../shared/mounting.js";

const STEPS = [-100, -80, -60, -40, -20, 0, 20, 40, 60, 80, 100]; // % of the strongest colour

define("SwitchBoard", ({ element, trigger, props }) => {
  const board = element.querySelector(".bx-board");
  let value = null;
  let shape = "";
  let buttons = [];
  let at = 0;
  const scale = el("div", { class: "bx-board-scale" });

  const where = (index) => [Math.floor(index / value.heads), index % value.heads];

  function build() {
    const row = (layer) =>
      el("button", { type: "button", class: "bx-layer", "data-layer": layer, title: `switch all heads of layer ${layer + 1}`,
        "aria-label": `all heads of layer ${layer + 1}` }, String(layer + 1));
    buttons = placeHeads(board, value, { row });
    board.append(scale);
    at = 0;
  }

  // Below the heads: what the colours stand for.
  function paintScale() {
    scale.hidden = !value.scale;
    if (!value.scale) return;
    const [name, low, high] = value.scale;
    const cells = STEPS.map((step) => el("i", { class: step < 0 ? "bx-lowers" : "bx-raises", style: `--strength:${Math.abs(step)}%` }));
    scale.replaceChildren(el("span", {}, name), el("div", {}, el("span", {}, low), ...cells, el("span", {}, high)));
  }

  function paint() {
    const off = new Set(value.off.map(String));
    buttons.forEach((button, i) => {
      const [layer, head] = where(i);
      const gone = off.has(String([layer, head]));
      const effect = value.effects?.[layer][head] ?? 0;
      const label = `layer ${layer + 1}, head ${head + 1}${gone ? ", off" : ""}${value.notes ? `: ${value.notes[layer][head]}` : ""}`;
      button.className = `bx-switch ${effect < 0 ? "bx-lowers" : "bx-raises"}`;
      button.style.setProperty("--strength", `${Math.round(100 * Math.min(1, Math.abs(effect)))}%`);
      button.setAttribute("aria-pressed", String(gone));
      button.setAttribute("aria-label", label);
      button.title = label;
    });
    rove(buttons, at);
    paintScale();
  }

  // Switch at once, and send Python all heads that are then off.
  function toggle(layer, head) {
    const row = (head >= 0 ? [head] : Array.from({ length: value.heads }, (_, h) => h)).map((h) => String([layer, h]));
    const off = new Set(value.off.map(String));
    const on = row.every((key) => off.has(key));
    row.forEach((key) => (on ? off.delete(key) : off.add(key)));
    value = { ...value, off: [...off].map((key) => key.split(",").map(Number)) };
    props.value = value;
    paint();
  }

  function draw() {
    value = plain(props.value);
    const next = value ? `${value.layers} x ${value.heads}` : "";
    const same = next === shape;
    shape = next;
    if (!value) return board.replaceChildren();
    if (!same) build();
    paint();
  }

  board.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const all = button.dataset.layer !== undefined;
    if (!all) at = buttons.indexOf(button);
    toggle(...(all ? [Number(button.dataset.layer), -1] : where(at)));
    trigger("select", { index: value.off, value: button.getAttribute("aria-label") });
  });
  gridKeys(board, () => ({ columns: value.heads, buttons }), (index) => rove(buttons, (at = index)));
  return draw;
});
