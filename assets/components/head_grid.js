// Layers × heads: as small pictures, of which one is selected and any may be switched off; and as switches, coloured by the effect of
// switching each off, where a layer's number switches all its heads.
import { bytes } from "../arithmetic/binary.js";
import { el, gridKeys, isKey, rove } from "../shared/dom.js";
import { choiceHere, drawn } from "../shared/mounting.js";
import { onTheme, paintPixels, rampTable } from "../shared/theme.js";

// Fill `box` with a button for each head, row by row, and the numbers around them.
function placeHeads(box, { layers, heads }, { inside = () => [], row = null }) {
  const quiet = (tag, more, text) => el(tag, { "aria-hidden": "true", ...more }, text);
  const column = (head) => `grid-column:${head + 3}`;
  const buttons = Array.from({ length: layers * heads }, (_, i) =>
    el("button", { type: "button", style: `grid-row:${Math.floor(i / heads) + 3};${column(i % heads)}`, "data-head": `${Math.floor(i / heads) + 1}.${i % heads + 1}` }, ...inside()));
  const across = Array.from({ length: heads }, (_, h) =>
    quiet("span", { style: `grid-row:2;${column(h)}` }, String(h + 1)));
  const down = Array.from({ length: layers }, (_, l) => {
    const number = row?.(l) ?? quiet("span", {}, String(l + 1));
    number.setAttribute("style", `grid-row:${l + 3};grid-column:2`);
    return number;
  });
  const names = [quiet("em", { class: "bx-across" }, "head"), quiet("em", { class: "bx-down" }, "layer")];
  box.style.setProperty("--heads", heads);
  box.style.setProperty("--layers", layers);
  box.replaceChildren(...names, ...across, ...down, ...buttons);
  return buttons;
}

/**
 * A grid of all heads in `box`. Of `parts`, `inside()` makes a button's content, `row(layer)` what is shown before a row, in place of
 * its number; `moved(index)` is called after a move by keyboard.
 */
function headGrid(box, parts, moved) {
  let shape = "";
  const grid = {
    columns: 0,
    buttons: [], // row by row
    where: (index) => [Math.floor(index / grid.columns), index % grid.columns],
    indexOf: ({ target }) => grid.buttons.indexOf(target.closest("button")),
    /** Make the buttons for {layers, heads}, or none for null. Returns whether they were there. */
    make(value) {
      const next = value ? `${value.layers} x ${value.heads}` : "";
      const same = next === shape;
      shape = next;
      grid.columns = value?.heads;
      if (!value) box.replaceChildren();
      else if (!same) grid.buttons = placeHeads(box, value, parts);
      return same;
    },
    /** Name each head; `off` are those that are switched off, `noteOf([layer, head])` says more of one. */
    name(off, noteOf) {
      const gone = new Set(off?.map(String));
      return grid.buttons.map((button, i) => {
        const place = grid.where(i);
        const [isOff, note] = [gone.has(String(place)), noteOf(place)];
        button.title = `${name(place)}${isOff ? ", off" : ""}${note === undefined ? "" : `: ${note}`}`;
        button.ariaLabel = button.title;
        return isOff;
      });
    },
  };
  gridKeys(box, () => grid, moved);
  return grid;
}

const name = ([layer, head]) => `layer ${layer + 1}, head ${head + 1}`;

drawn("HeadGrid", ({ root, trigger, props }) => {
  const choice = choiceHere();
  const grid = headGrid(root, { inside: () => [el("canvas", {})] }, choose);
  let value = null;

  function paint() {
    const { size } = value;
    const raw = bytes(value.data);
    const colours = rampTable();
    const room = (grid.buttons[0].clientWidth || 32) * devicePixelRatio;
    grid.buttons.forEach(({ firstChild: canvas }, i) => {
      canvas.style.imageRendering = size > room ? "auto" : "pixelated"; // enlarged: sharp squares; reduced: smoothed
      paintPixels(canvas, size, size, (x, y) => colours[raw[(i * size + y) * size + x]]);
    });
  }

  // Each head's label, and the bar below its picture.
  function annotate() {
    root.style.setProperty("--largest", value.heads > 6 ? "46px" : "72px");
    root.classList.toggle("bx-marked", Boolean(value.marks));
    const off = grid.name(value.off, ([layer, head]) => value.notes?.[layer * value.heads + head]);
    grid.buttons.forEach((button, i) => {
      button.classList.toggle("bx-off", off[i]);
      if (value.marks) button.style.setProperty("--mark", value.marks[i]);
      if (value.colours) button.style.setProperty("--mark-colour", value.colours[i]);
    });
  }

  function mark(selected) {
    value.selected = selected;
    const index = selected[0] * value.heads + selected[1];
    rove(grid.buttons, index);
    grid.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
  }

  function choose(index) {
    const selected = grid.where(index);
    choice.set(selected);
    mark(selected);
    props.value = value; // the next value is compared with what is shown, not with the previous value
    trigger("select", { index: selected, value: name(selected) });
  }

  // Switch a head off or on; Python knows which.
  function flip(index) {
    if (index >= 0) trigger("switch", { index: grid.where(index), value: name(grid.where(index)) });
  }

  root.addEventListener("click", (event) => {
    const index = grid.indexOf(event);
    if (index >= 0 && event.detail < 2) choose(index); // the first click of a double click selects
  });
  root.addEventListener("dblclick", (event) => flip(grid.indexOf(event)));
  root.addEventListener("keydown", (event) => isKey(event, "x") && flip(grid.indexOf(event)));
  onTheme(() => value && paint(), root);
  return (sent) => {
    value = sent;
    const same = grid.make(value);
    if (!value) return;
    paint();
    annotate();
    mark(same ? choice.settle(value.selected) : value.selected);
  };
});

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
