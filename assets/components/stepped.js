// A drawing of boxes and arrows, walked through in steps: each tells a sentence, and lights what it is about.
import { el, svg } from "../shared/dom.js";
import { define, whenChanged } from "../shared/mounting.js";
import { stepping } from "../shared/stepping.js";

define("Stepped", ({ element, props }) => {
  const root = element.querySelector(".bx-stepped");
  const PAUSE = 3600; // ms at each step
  const QUICK = 900; // ms, where steps repeat: at those without a title of their own that follow each other by the dozen
  const MANY = 12; // steps
  const EDGE = 40; // units: a title nearer to the left edge begins there
  const LETTER = 6.4; // units: about the width of a letter
  const TIP = 5; // units: the point of an arrow
  const said = el("p", { class: "bx-step-said", role: "status" });
  const drawing = svg("svg", { class: "bx-stepped-drawing", role: "img" });
  let value = null;
  let parts = new Map(); // id → its element

  const bar = stepping({
    count: () => value?.steps.length ?? 0,
    show: (at) => value && show(at),
    pause: (at) => (value.steps.length > MANY && !value.steps[at].title ? QUICK : PAUSE),
    parts: () => value?.steps.flatMap(({ title }, at) => (title ? [[title, at]] : [])) ?? [],
    label: "the drawing, step by step",
  });

  function drawBox(box) {
    const title = box.kind === "title";
    const [x, y] = title ? [box.x, box.y + 14] : [box.x + box.width / 2, box.y + box.height / 2];
    const shape = title ? null : svg("rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: 6 });
    const label = cut(box.label, Math.floor((box.width - 4) / LETTER));
    const node = svg("g", { class: `bx-drawn bx-${box.kind}`, "data-id": box.id }, shape, svg("text", { x, y, style: title && x < EDGE ? "text-anchor: start" : "" }, label));
    parts.set(box.id, node);
    return node;
  }

  function drawArrow({ id, start, end, bend }) {
    const [[ax, ay], [bx, by]] = [start, end];
    const path = `M${ax} ${ay}C${ax + bend} ${ay} ${ax + bend} ${by} ${bx} ${by}`;
    const back = bx + Math.sign(bend) * TIP; // it arrives from the side to which it is bent
    const point = `M${back} ${by - TIP * 0.7}L${bx} ${by}L${back} ${by + TIP * 0.7}`;
    const node = svg("g", { class: "bx-drawn bx-arrow", "data-id": id }, svg("path", { d: path }), svg("path", { class: "bx-tip", d: point }));
    parts.set(id, node);
    return node;
  }

  function build() {
    parts = new Map();
    drawing.setAttribute("viewBox", `-2 -2 ${value.width + 4} ${value.height + 4}`);
    drawing.setAttribute("aria-label", value.alt);
    drawing.replaceChildren(...value.arrows.map(drawArrow), ...value.boxes.map(drawBox));
    root.replaceChildren(bar.root, said, drawing);
  }

  const cut = (text, fits) => (text.length > fits && fits > 1 ? `${text.slice(0, fits - 1)}…` : text);

  function show(at) {
    const step = value.steps[at];
    const lit = new Set(step.lit);
    for (const [id, node] of parts) node.classList.toggle("bx-lit", lit.has(id));
    if (said.textContent !== step.text) said.textContent = step.text;
  }

  function draw(next) {
    value = next;
    if (!value) {
      bar.stop();
      return root.replaceChildren();
    }
    build();
    bar.renew(0);
  }

  return whenChanged(props, draw);
});
