// Layers x heads as small pictures; one is chosen.
BertExplorer.define("HeadGrid", ({ element, trigger, props, watch }) => {
  const { el, rove } = BertExplorer;
  const grid = element.querySelector(".bx-heads");
  const choice = BertExplorer.choice();
  const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  let shape = "";
  let value = null;
  let buttons = []; // row by row

  const at = ([layer, head]) => layer * value.heads + head;
  const where = (index) => [Math.floor(index / value.heads), index % value.heads];
  const name = ([layer, head]) => `layer ${layer + 1}, head ${head + 1}`;

  function build() {
    const { layers, heads } = value;
    const column = (number) => `grid-column:${number + 3}`;
    buttons = Array.from({ length: layers * heads }, (_, i) => {
      const [layer, head] = where(i);
      return el("button", { type: "button", style: `grid-row:${layer + 3};${column(head)}` }, el("canvas", {}));
    });
    const numbers = [
      ...Array.from({ length: heads }, (_, h) => el("span", { style: `grid-row:2;${column(h)}` }, String(h + 1))),
      ...Array.from({ length: layers }, (_, l) => el("span", { style: `grid-row:${l + 3};grid-column:2` }, String(l + 1))),
    ];
    const names = [el("em", { class: "bx-across" }, "head"), el("em", { class: "bx-down" }, "layer")];
    grid.style.setProperty("--heads", heads);
    grid.style.setProperty("--layers", layers);
    grid.style.setProperty("--largest", heads > 6 ? "46px" : "72px");
    for (const node of [...names, ...numbers]) node.setAttribute("aria-hidden", "true");
    grid.replaceChildren(...names, ...numbers, ...buttons);
  }

  function paint() {
    const { size } = value;
    const raw = BertExplorer.bytes(value.data);
    const colours = BertExplorer.rampTable();
    const room = (buttons[0].clientWidth || 32) * devicePixelRatio;
    const rendering = size > room ? "auto" : "pixelated"; // enlarged: sharp squares; reduced: no pixel is skipped
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

  // What is told of each head, and the bar below its picture.
  function annotate() {
    grid.classList.toggle("bx-marked", Boolean(value.marks));
    buttons.forEach((button, i) => {
      const label = value.notes ? `${name(where(i))}: ${value.notes[i]}` : name(where(i));
      button.title = label;
      button.setAttribute("aria-label", label);
      if (value.marks) button.style.setProperty("--mark", value.marks[i]);
    });
  }

  function mark(selected) {
    value.selected = selected;
    const index = at(selected);
    rove(buttons, index);
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
  }

  function draw() {
    value = BertExplorer.plain(props.value);
    if (!value) {
      shape = "";
      buttons = [];
      grid.replaceChildren();
      return;
    }
    const next = `${value.layers} x ${value.heads}`;
    const same = next === shape;
    if (!same) build();
    shape = next;
    paint();
    annotate();
    mark(same ? choice.settle(value.selected) : value.selected);
  }

  function choose(index) {
    const selected = where(index);
    choice.set(selected);
    mark(selected);
    props.value = value; // what Python sends next is compared with what is shown, not with what it sent last
    trigger("select", { index: selected, value: name(selected) });
  }

  grid.addEventListener("click", (event) => {
    const index = buttons.indexOf(event.target.closest("button"));
    if (index >= 0) choose(index);
  });
  grid.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    const index = buttons.indexOf(event.target.closest("button"));
    if (!move || index < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [layer, head] = where(index).map((v, i) => v + move[i]);
    if (layer < 0 || head < 0 || layer >= value.layers || head >= value.heads) return;
    buttons[at([layer, head])].focus();
    choose(at([layer, head]));
  });
  BertExplorer.onTheme(() => value && paint(), grid);
  watch("value", draw);
  draw();
});
