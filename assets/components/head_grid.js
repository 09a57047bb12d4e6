// Layers × heads as small pictures; one is selected, and any may be switched off.
import { bytes } from "../arithmetic/binary.js";
import { el, plain, rove } from "../shared/dom.js";
import { gridKeys, placeHeads } from "../shared/grid.js";
import { choiceHere, define } from "../shared/mounting.js";
import { onTheme, rampTable } from "../shared/theme.js";

define("HeadGrid", ({ element, trigger, props }) => {
  const grid = element.querySelector(".bx-heads");
  const choice = choiceHere();
  let shape = "";
  let value = null;
  let buttons = []; // row by row

  const at = ([layer, head]) => layer * value.heads + head;
  const where = (index) => [Math.floor(index / value.heads), index % value.heads];
  const name = ([layer, head]) => `layer ${layer + 1}, head ${head + 1}`;

  function build() {
    buttons = placeHeads(grid, value, { inside: () => [el("canvas", {})] });
    grid.style.setProperty("--largest", value.heads > 6 ? "46px" : "72px");
  }

  function paint() {
    const { size } = value;
    const raw = bytes(value.data);
    const colours = rampTable();
    const room = (buttons[0].clientWidth || 32) * devicePixelRatio;
    const rendering = size > room ? "auto" : "pixelated"; // enlarged: sharp squares; reduced: smoothed
    buttons.forEach((button, i) => {
      const canvas = button.firstChild;
      canvas.width = canvas.height = size;
      canvas.style.imageRendering = rendering;
      const context = canvas.getContext("2d");
      const image = context.createImageData(size, size);
      for (let p = 0; p < size * size; p++) {
        const [r, g, b] = colours[raw[i * size * size + p]];
        image.data.set([r, g, b, 255], 4 * p);
      }
      context.putImageData(image, 0, 0);
    });
  }

  // Each head's label, and the bar below its picture.
  function annotate() {
    grid.classList.toggle("bx-marked", Boolean(value.marks));
    const off = new Set((value.off ?? []).map(String));
    buttons.forEach((button, i) => {
      const gone = off.has(String(where(i)));
      const label = `${name(where(i))}${gone ? ", off" : ""}${value.notes ? `: ${value.notes[i]}` : ""}`;
      button.classList.toggle("bx-off", gone);
      button.title = label;
      button.setAttribute("aria-label", label);
      if (value.marks) button.style.setProperty("--mark", value.marks[i]);
      if (value.colours) button.style.setProperty("--mark-colour", value.colours[i]);
    });
  }

  function mark(selected) {
    value.selected = selected;
    const index = at(selected);
    rove(buttons, index);
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
  }

  function draw() {
    value = plain(props.value);
    const next = value ? `${value.layers} x ${value.heads}` : "";
    const same = next === shape;
    shape = next;
    if (!value) return grid.replaceChildren();
    if (!same) build();
    paint();
    annotate();
    mark(same ? choice.settle(value.selected) : value.selected);
  }

  function choose(index) {
    const selected = where(index);
    choice.set(selected);
    mark(selected);
    props.value = value; // the next value is compared with what is shown, not with the previous value
    trigger("select", { index: selected, value: name(selected) });
  }

  // Switch a head off or on; Python knows which.
  function flip(index) {
    if (index >= 0) trigger("switch", { index: where(index), value: name(where(index)) });
  }

  grid.addEventListener("click", (event) => {
    const index = buttons.indexOf(event.target.closest("button"));
    if (index >= 0 && event.detail < 2) choose(index); // the first click of a double click selects
  });
  grid.addEventListener("dblclick", (event) => flip(buttons.indexOf(event.target.closest("button"))));
  grid.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "x" || event.altKey || event.ctrlKey || event.metaKey) return;
    flip(buttons.indexOf(event.target.closest("button")));
  });
  gridKeys(grid, () => ({ columns: value.heads, buttons }), choose);
  onTheme(() => value && paint(), grid);
  return draw;
});
