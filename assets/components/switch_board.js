// Layers × heads as switches, coloured by the effect of switching each off; a layer's number switches all its heads.
import { el, rove } from "../shared/dom.js";
import { headGrid } from "../shared/grid.js";
import { drawn } from "../shared/mounting.js";

const STEPS = [-100, -80, -60, -40, -20, 0, 20, 40, 60, 80, 100]; // % of the strongest colour

drawn("SwitchBoard", ({ root, trigger, props }) => {
  const scale = el("div", { class: "bx-board-scale" });
  const row = (layer) =>
    el("button", { type: "button", class: "bx-layer", "data-layer": layer, title: `switch all heads of layer ${layer + 1}`,
      "aria-label": `all heads of layer ${layer + 1}` }, String(layer + 1));
  const grid = headGrid(root, { row }, (index) => rove(grid.buttons, (at = index)));
  let value = null;
  let at = 0;

  // Below the heads: what the colours stand for.
  function paintScale() {
    scale.hidden = !value.scale;
    if (!value.scale) return;
    const [name, low, high] = value.scale;
    const cells = STEPS.map((step) => el("i", { class: step < 0 ? "bx-lowers" : "bx-raises", style: `--strength:${Math.abs(step)}%` }));
    scale.replaceChildren(el("span", {}, name), el("div", {}, el("span", {}, low), ...cells, el("span", {}, high)));
  }

  function paint() {
    const off = grid.name(value.off, ([layer, head]) => value.notes?.[layer][head]);
    grid.buttons.forEach((button, i) => {
      const [layer, head] = grid.where(i);
      const effect = value.effects?.[layer][head] ?? 0;
      button.className = `bx-switch ${effect < 0 ? "bx-lowers" : "bx-raises"}`;
      button.style.setProperty("--strength", `${Math.round(100 * Math.min(1, Math.abs(effect)))}%`);
      button.setAttribute("aria-pressed", String(off[i]));
    });
    rove(grid.buttons, at);
    paintScale();
  }

  // Switch now, and send Python all heads that are then off.
  function toggle(switched) {
    const off = new Set(value.off.map(String));
    const on = switched.every((head) => off.has(String(head)));
    switched.forEach((head) => (on ? off.delete(String(head)) : off.add(String(head))));
    value = { ...value, off: [...off].map((head) => head.split(",").map(Number)) };
    props.value = value;
    paint();
  }

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const { layer } = button.dataset;
    if (layer === undefined) at = grid.indexOf(event);
    toggle(layer === undefined ? [grid.where(at)] : Array.from({ length: value.heads }, (_, head) => [Number(layer), head]));
    trigger("select", { index: value.off, value: button.ariaLabel });
  });
  return (sent) => {
    value = sent;
    const same = grid.make(value);
    if (!value) return;
    if (!same) {
      root.append(scale);
      at = 0;
    }
    paint();
  };
});
