// A drawing of boxes and arrows, walked through in steps: each tells a sentence, and lights what it is about.
import { el, plain, svg } from "../shared/dom.js";
import { define } from "../shared/mounting.js";
import { stepping } from "../shared/stepping.js";

define("Stepped", ({ element, trigger, props }) => {
  const root = element.querySelector(".bx-stepped");
  const PAUSE = 3600; // ms at each step
  const QUICK = 900; // ms, where steps repeat: at those without a title of their own that follow each other by the dozen
  const MANY = 12; // steps
  const LETTER = 6.4; // units: about the width of a letter
  const TIP = 5; // units: the point of an arrow
  const said = el("p", { class: "bx-step-said", role: "status" });
  const drawing = svg("svg", { class: "bx-stepped-drawing", role: "img" });
  let value = null;
  let seen = "";
  let parts = new Map(); // id → { node, text: the element of its label, label }

  const bar = stepping({
    count: () => value?.steps.length ?? 0,
    show: (at) => value && show(at),
    pause: (at) => (value.steps.length > MANY && !value.steps[at].title ? QUICK : PAUSE),
    parts: () => value?.steps.flatMap(({ title }, at) => (title ? [[title, at]] : [])) ?? [],
    label: "the drawing, step by step",
  });

  function drawBox(box) {
    const frame = box.kind === "frame";
    const at = frame ? [box.x + 10, box.y + 16] : box.kind === "title" ? [box.x, box.y + 14] : [box.x + box.width / 2, box.y + box.height / 2];
    const text = svg("text", { x: at[0], y: at[1] });
    const shape = box.kind === "title" ? null : svg("rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: box.kind === "state" ? 9 : 6 });
    const node = svg("g", { class: `bx-drawn bx-${box.kind}`, "data-id": box.id }, shape, text);
    if (box.pick != null) node.setAttribute("data-pick", box.pick);
    parts.set(box.id, { node, text, label: box.label, fits: Math.floor((box.width - 4) / LETTER) });
    return node;
  }

  function drawArrow({ id, start, end, bend }) {
    const [[ax, ay], [bx, by]] = [start, end];
    const from = bend ? [ax + bend, by] : [ax, ay]; // where the arrow comes from at its end
    const [dx, dy] = bend ? [bx - from[0], 0] : [bx - ax, by - ay];
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [(dx / length) * TIP, (dy / length) * TIP];
    const path = bend && Math.sign(bx - ax) > 0 && bx - ax > 4 ? `M${ax} ${ay}C${ax + bend} ${ay} ${bx - bend} ${by} ${bx} ${by}` : bend ? `M${ax} ${ay}C${ax + bend} ${ay} ${ax + bend} ${by} ${bx} ${by}` : `M${ax} ${ay}L${bx} ${by}`;
    const tip = bend && bx - ax > 4 ? [TIP, 0] : [ux, uy];
    const point = `M${bx - tip[0] - tip[1] * 0.7} ${by - tip[1] + tip[0] * 0.7}L${bx} ${by}L${bx - tip[0] + tip[1] * 0.7} ${by - tip[1] - tip[0] * 0.7}`;
    const node = svg("g", { class: "bx-drawn bx-arrow", "data-id": id }, svg("path", { d: path }), svg("path", { class: "bx-tip", d: point }));
    parts.set(id, { node });
    return node;
  }

  function build() {
    parts = new Map();
    drawing.setAttribute("viewBox", `-2 -2 ${value.width + 4} ${value.height + 4}`);
    drawing.setAttribute("aria-label", value.alt);
    const frames = value.boxes.filter((box) => box.kind === "frame");
    const others = value.boxes.filter((box) => box.kind !== "frame");
    drawing.replaceChildren(...frames.map(drawBox), ...value.arrows.map(drawArrow), ...others.map(drawBox));
    root.replaceChildren(bar.root, said, drawing);
  }

  const cut = (text, fits) => (text.length > fits && fits > 1 ? `${text.slice(0, fits - 1)}…` : text);

  function show(at) {
    const step = value.steps[at];
    const lit = new Set(step.lit);
    const labels = Object.assign({}, ...value.steps.slice(0, at + 1).map((one) => one.labels));
    for (const [id, { node, text, label, fits }] of parts) {
      node.classList.toggle("bx-lit", lit.has(id));
      if (!text) continue;
      const shown = cut(labels[id] ?? label, fits);
      if (text.textContent !== shown) text.textContent = shown;
      node.classList.toggle("bx-empty", !shown);
    }
    if (said.textContent !== step.text) said.textContent = step.text;
  }

  function draw() {
    const next = JSON.stringify(props.value || null);
    if (next === seen) return;
    seen = next;
    value = plain(props.value || null);
    if (!value) {
      bar.stop();
      return root.replaceChildren();
    }
    build();
    bar.renew(0);
  }

  drawing.addEventListener("click", ({ target }) => {
    const pick = target.closest("[data-pick]")?.dataset.pick;
    if (pick != null) trigger("select", { index: Number(pick), value: "" });
  });
  return draw;
});
