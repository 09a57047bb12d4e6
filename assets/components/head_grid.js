// Layers × heads as small pictures; one is selected, and any may be switched off.
import { bytes } from "../arithmetic/binary.js";
import { el, rove } from "../shared/dom.js";
import { headGrid } from "../shared/grid.js";
import { choiceHere, drawn } from "../shared/mounting.js";
import { onTheme, rampTable } from "../shared/theme.js";
import { paintPixels } from "../shared/vectors.js";

drawn("HeadGrid", ({ root, trigger, props }) => {
  const choice = choiceHere();
  const grid = headGrid(root, { inside: () => [el("canvas", {})] }, choose);
  let value = null;

  const name = ([layer, head]) => `layer ${layer + 1}, head ${head + 1}`;

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
  root.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "x" && !event.altKey && !event.ctrlKey && !event.metaKey) flip(grid.indexOf(event));
  });
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
