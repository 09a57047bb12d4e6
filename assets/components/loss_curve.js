// What a guess costs: the curve −ln p, and a point on it for each chosen piece, which slides there from p = 1.
import { el, plain, svg } from "../shared/dom.js";
import { define } from "../shared/mounting.js";
import { stepping } from "../shared/stepping.js";

define("LossCurve", ({ element, props }) => {
  const root = element.querySelector(".bx-loss");
  const [WIDTH, HEIGHT] = [340, 210]; // units of the drawing,
  const PLOT = { left: 34, right: 332, top: 10, bottom: 166 }; // its axes,
  const BAR = { top: 186, height: 14 }; // and the bar of p below them
  const PAUSE = 2600; // ms
  const SLIDE = 900; // ms
  const LEAST = 0.001; // the smallest p of the slider
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const said = el("p", { class: "bx-step-said", role: "status" });
  const slider = el("input", { type: "range", min: LEAST, max: 1, step: LEAST, "aria-label": "p of the true piece, to try" });
  let value = null;
  let seen = "";
  let shown = 1; // the p that is drawn
  let frame = 0;
  let drawing, guide, dot, fill, label;

  const bar = stepping({
    count: () => (value ? value.pieces.length + 1 : 0),
    show: (at) => value && show(at),
    pause: () => PAUSE,
    label: "the loss, piece by piece",
  });

  const x = (p) => PLOT.left + p * (PLOT.right - PLOT.left);
  const y = (loss) => PLOT.bottom - (Math.min(loss, value.top) / value.top) * (PLOT.bottom - PLOT.top);
  const cost = (p) => Math.max(0, -Math.log(p));
  const share = (p) => (p < 0.0005 ? "less than 0.001" : p.toFixed(3));

  function axes() {
    const line = (x1, y1, x2, y2, kind) => svg("line", { x1, y1, x2, y2, class: kind });
    const write = (at, down, text, anchor) => svg("text", { x: at, y: down, "text-anchor": anchor }, text);
    const across = [0, 0.25, 0.5, 0.75, 1].map((p) => write(x(p), PLOT.bottom + 13, String(p), "middle"));
    const every = value.top > 12 ? 5 : 2;
    const down = Array.from({ length: Math.floor(value.top / every) + 1 }, (_, i) => i * every);
    return [
      ...down.flatMap((loss) => [line(PLOT.left, y(loss), PLOT.right, y(loss), "bx-grid"), write(PLOT.left - 5, y(loss) + 4, String(loss), "end")]),
      ...across, write(PLOT.right, PLOT.top + 2, "loss = −ln p", "end"), write(PLOT.left - 5, BAR.top + 11, "p", "end"),
    ];
  }

  function build() {
    const least = Math.exp(-value.top);
    const points = Array.from({ length: 121 }, (_, i) => least ** (1 - i / 120)); // even in the loss, which is steep at the left
    const curve = svg("polyline", { class: "bx-curve", points: points.map((p) => `${x(p).toFixed(1)},${y(cost(p)).toFixed(1)}`).join(" ") });
    const others = value.pieces.map(({ p, loss }) => svg("circle", { class: "bx-other", cx: x(p), cy: y(loss), r: 3 }));
    guide = svg("path", { class: "bx-guide" });
    dot = svg("circle", { class: "bx-dot", r: 6 });
    fill = svg("rect", { class: "bx-p", x: PLOT.left, y: BAR.top, height: BAR.height, rx: 3 });
    label = svg("text", { y: BAR.top + 11 });
    const track = svg("rect", { class: "bx-track", x: PLOT.left, y: BAR.top, width: PLOT.right - PLOT.left, height: BAR.height, rx: 3 });
    drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": value.alt }, ...axes(), curve, ...others, guide, dot, track, fill, label);
    root.replaceChildren(bar.root, said, drawing, el("label", {}, el("span", {}, "try another p"), slider));
  }

  function place(p, loss = cost(p)) {
    shown = p;
    const [at, up] = [x(p), y(loss)];
    dot.setAttribute("cx", at);
    dot.setAttribute("cy", up);
    guide.setAttribute("d", `M${PLOT.left} ${up}H${at}V${BAR.top}`);
    fill.setAttribute("width", Math.max(0.5, at - PLOT.left));
    label.textContent = share(p);
    label.setAttribute("x", p > 0.7 ? at - 6 : at + 6);
    label.setAttribute("text-anchor", p > 0.7 ? "end" : "start");
  }

  // The bar slides to p, and the point with it along the curve.
  function slide(p, loss) {
    cancelAnimationFrame(frame);
    slider.value = String(Math.max(LEAST, p));
    if (still.matches || !root.clientWidth) return place(p, loss);
    const [from, begun] = [shown, performance.now()];
    const move = (now) => {
      const done = Math.min(1, Math.max(0, (now - begun) / SLIDE));
      const eased = 1 - (1 - done) ** 3;
      if (done === 1 || !root.isConnected) return place(p, loss);
      place(from + (p - from) * eased);
      frame = requestAnimationFrame(move);
    };
    frame = requestAnimationFrame(move);
  }

  function show(at) {
    const one = value.pieces[at];
    drawing.querySelectorAll(".bx-other").forEach((other, index) => other.classList.toggle("bx-lit", !one || index <= at));
    if (!one) {
      slide(Math.exp(-value.mean), value.mean);
      said.textContent = `The mean of ${value.pieces.length} ${value.pieces.length > 1 ? "losses" : "loss"} is ${value.mean.toFixed(3)}: the masked-LM loss, as much as if every piece had got ${share(Math.exp(-value.mean))}.`;
      return;
    }
    slide(one.p, one.loss);
    const right = one.guess === one.piece ? "It is the first guess." : `The first guess is “${one.guess}”.`;
    said.textContent = `“${one.piece}” gets p = ${share(one.p)}, which costs −ln p = ${one.loss.toFixed(3)}. ${right}`;
  }

  function draw() {
    const next = JSON.stringify(props.value || null);
    if (next === seen) return;
    seen = next;
    value = plain(props.value || null);
    cancelAnimationFrame(frame);
    if (!value) {
      bar.stop();
      return root.replaceChildren();
    }
    shown = 1;
    build();
    bar.renew(0);
  }

  slider.addEventListener("input", () => {
    bar.stop();
    cancelAnimationFrame(frame);
    const p = Number(slider.value);
    place(p);
    said.textContent = `A true piece that gets p = ${share(p)} would cost −ln p = ${cost(p).toFixed(3)}. Half of that p costs ${Math.LN2.toFixed(2)} more, wherever it is.`;
  });
  return draw;
});
