// One head, step by step: a query walks past its keys, the scores become weights, and the weights mix the values.
import { bytes } from "../arithmetic/binary.js";
import { along } from "../arithmetic/moves.js";
import { el, plain, rove } from "../shared/dom.js";
import { define } from "../shared/mounting.js";
import { stepping } from "../shared/stepping.js";
import { onTheme } from "../shared/theme.js";
import { paintVector } from "../shared/vectors.js";

define("HeadSteps", ({ element, trigger, props }) => {
  const root = element.querySelector(".bx-head-steps");
  const PAUSE = { score: 700, mix: 500, other: 3200 }; // ms
  const GLIDE = 380; // ms, as in the style
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const said = el("p", { class: "bx-step-said", role: "status" });
  const walker = el("span", { class: "bx-walker", "aria-hidden": "true" }, "q");
  const sheet = el("div", { class: "bx-head-sheet" });
  let value = null;
  let seen = ""; // the value that was drawn last, as JSON
  let rows = []; // of the keys and, if there is one, of the rest: { tr, one, cells }
  let strips = []; // { canvas, vector, top }
  let total = null; // the last row: { raised, weight, mixed }

  const bar = stepping({
    count: () => (value ? steps().length : 0),
    show: (at) => value && show(at),
    pause: (at) => PAUSE[steps()[at].kind] ?? PAUSE.other,
    parts: () => (value ? [["Scores", 1], ["Softmax", value.keys.length + 1], ["Mix", value.keys.length + 3]] : []),
    label: "one head, step by step",
  });

  // ---- The steps, and what is told at each.

  const steps = () => [
    { kind: "begin" },
    ...value.keys.map((_, row) => ({ kind: "score", row })),
    { kind: "raise" },
    { kind: "divide" },
    ...rows.map((_, row) => ({ kind: "mix", row })),
  ];
  const minus = (text) => text.replace("-", "−");
  const number = (one, digits = 2) => (one == null ? "−∞" : minus(one.toFixed(digits)));
  const small = (one) => (one > 0 && one < 0.0005 ? "<0.001" : one.toFixed(3));
  const strongest = () => value.keys.reduce((best, one) => (one.weight > best.weight ? one : best));
  const name = (one) => `“${one.token}”`;

  function tell({ kind, row }) {
    const [size, one, top] = [value.size, rows[row]?.one, strongest()];
    if (kind === "begin") return `“${value.query}” asks with its query q, ${size} numbers. It goes from key to key; each key k has ${size} numbers, too.`;
    if (kind === "score") {
      const far = one.scaled == null ? " This key is too far away for this layer: its score counts as −∞." : ` Divided by √${size}, that is ${number(one.scaled)}.`;
      return `${name(one)}: the ${size} products of q and k, added up, are q·k = ${number(one.dot)}.${far}`;
    }
    if (kind === "raise") return `Softmax, first half: e to the power of each score, shown as a share of the largest, that of ${name(top)}. One less in the score is ${(1 / Math.E).toFixed(2)} times as much.`;
    if (kind === "divide") return `Softmax, second half: each is divided by the sum of all, ${number(value.total)}. Now they are weights, and sum to 1; ${name(top)} has ${small(top.weight)}.`;
    const whole = row === rows.length - 1 ? " The mixture is complete: it is the head’s output for this token." : "";
    if (one.count) return `The values of the other ${one.count} keys are added, with ${small(one.weight)} of the weight.${whole}`;
    return `${small(one.weight)} of the value v of ${name(one)} is added to the mixture.${whole}`;
  }

  // ---- The table. Every cell is there from the start, so that nothing moves when it is filled.

  function strip(data, top) {
    const vector = new Float32Array(bytes(data).buffer);
    const canvas = el("canvas", { width: vector.length, height: 1, role: "img", "aria-label": `${vector.length} numbers` });
    const one = { canvas, vector, top };
    strips.push(one);
    return one;
  }

  const cell = (kind, ...inside) => el("td", { class: `bx-of-${kind}` }, ...inside);

  function keyRow(one) {
    const button = one.count ? el("span", {}, `the other ${one.count} keys`) : el("button", { type: "button", "data-token": one.position }, el("bdi", {}, one.token));
    const added = strip(one.added, value.addedTop);
    const fill = el("i", {});
    const cells = {
      key: cell("strip", ...(one.key ? [strip(one.key, value.keyTop).canvas] : [])),
      dot: cell("number", one.count ? "" : number(one.dot)),
      scaled: cell("number", one.count ? "" : number(one.scaled)),
      raised: cell("number", small(one.raised)),
      weight: cell("weight", fill, el("span", {}, small(one.weight))),
      added: cell("strip", added.canvas),
    };
    return { tr: el("tr", {}, el("td", { class: "bx-of-walker" }), el("th", { scope: "row" }, button), ...Object.values(cells)), one, cells, added, fill };
  }

  function build() {
    strips = [];
    const titles = [["walker", ""], ["name", "key"], ["strip", "q, and each k"], ["number", "q·k"], ["number", `÷ √${value.size}`], ["number", "e^…"], ["weight", "weight"], ["strip", "weight · v"]];
    const head = el("tr", {}, ...titles.map(([kind, title]) => (title ? el("th", { scope: "col", class: `bx-of-${kind}` }, title) : el("td", {}))));
    const asks = el("tr", { class: "bx-strong" }, el("td", {}), el("th", { scope: "row" }, el("bdi", {}, `query ${value.query}`)), cell("strip", strip(value.queryStrip, value.keyTop).canvas), ...["number", "number", "number", "weight", "strip"].map((kind) => cell(kind)));
    rows = [...value.keys, ...(value.rest ? [value.rest] : [])].map(keyRow);
    total = { raised: cell("number", number(value.total)), weight: cell("weight", el("span", {}, "1")), mixed: strip(value.output, value.mixedTop) };
    const sum = el("tr", { class: "bx-strong bx-sum" }, el("td", {}), el("th", { scope: "row" }, "sum"), cell("strip"), cell("number"), cell("number"), total.raised, total.weight, cell("strip", total.mixed.canvas));
    const body = el("tbody", {}, asks, ...rows.map((row) => row.tr), sum);
    sheet.replaceChildren(el("table", { "aria-label": value.alt }, el("thead", {}, head), body), walker);
    root.replaceChildren(bar.root, said, sheet);
    rove(names(), 0);
    paint();
  }

  const names = () => [...sheet.querySelectorAll("button")];
  const paint = () => strips.forEach(({ canvas, vector, top }) => paintVector(canvas, vector, top));

  // The weighted values of the rows up to `last`, added up. All of them are the head's output.
  function mixture(last) {
    const sum = new Float32Array(value.size);
    for (const { added } of rows.slice(0, last + 1)) added.vector.forEach((number, i) => (sum[i] += number));
    return sum;
  }

  function show(at) {
    const step = steps()[at];
    const [scored, mixed] = [step.kind === "score" ? step.row : step.kind === "begin" ? -1 : rows.length, step.kind === "mix" ? step.row : -1];
    const [raised, divided] = [["raise", "divide", "mix"].includes(step.kind), ["divide", "mix"].includes(step.kind)];
    rows.forEach(({ tr, cells, one, fill }, row) => {
      for (const kind of ["dot", "scaled"]) cells[kind].classList.toggle("bx-unseen", row > scored);
      cells.raised.classList.toggle("bx-unseen", !raised);
      cells.weight.classList.toggle("bx-unseen", !divided);
      cells.added.classList.toggle("bx-unseen", row > mixed);
      fill.style.width = divided ? `${(100 * one.weight) / value.weightTop}%` : "0";
      tr.classList.toggle("bx-now", row === (step.kind === "mix" ? mixed : step.kind === "score" ? scored : -1));
    });
    total.raised.classList.toggle("bx-unseen", !raised);
    total.weight.classList.toggle("bx-unseen", !divided);
    total.mixed.canvas.parentElement.classList.toggle("bx-unseen", mixed < 0);
    paintVector(total.mixed.canvas, mixture(mixed), total.mixed.top);
    const text = tell(step);
    if (said.textContent !== text) said.textContent = text;
    walk(step.kind === "begin" ? 0 : step.kind === "score" ? step.row + 1 : -1);
    if (mixed >= 0) fall(rows[mixed].added);
  }

  // The query stands before the key that it meets.
  function walk(row) {
    const stands = row < 0 ? null : sheet.querySelectorAll("tbody tr")[row];
    walker.classList.toggle("bx-unseen", !stands);
    if (stands) walker.style.transform = `translateY(${stands.offsetTop + stands.offsetHeight / 2}px)`;
  }

  // A copy of the weighted value falls into the mixture.
  function fall({ canvas, vector, top }) {
    if (still.matches || !root.clientWidth) return;
    const [from, to] = [canvas.getBoundingClientRect(), total.mixed.canvas.getBoundingClientRect()];
    const copy = el("canvas", { class: "bx-falling", width: vector.length, height: 1, "aria-hidden": "true" });
    paintVector(copy, vector, top);
    const zoom = root.currentCSSZoom ?? 1;
    const place = sheet.getBoundingClientRect();
    copy.style.cssText = `left:${(from.left - place.left) / zoom}px;top:${(from.top - place.top) / zoom}px;width:${from.width / zoom}px`;
    sheet.append(copy);
    const falls = copy.animate([{ opacity: 1 }, { opacity: 0.3, transform: `translateY(${(to.top - from.top) / zoom}px)` }], { duration: GLIDE, easing: "ease-in" });
    falls.finished.finally(() => copy.remove());
  }

  function draw() {
    const next = JSON.stringify(props.value || null);
    if (next === seen) return; // the rest of the page was drawn again; the steps go on
    const last = value ? steps().length - 1 : 0;
    const whole = !value || bar.at() >= last; // it opens with everything in sight
    seen = next;
    value = plain(props.value || null);
    if (!value) {
      bar.stop();
      return root.replaceChildren();
    }
    build();
    bar.renew(whole ? steps().length - 1 : Math.min(bar.at(), steps().length - 1));
  }

  sheet.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button) trigger("select", { index: Number(button.dataset.token), value: button.textContent });
  });
  sheet.addEventListener("keydown", (event) => {
    const buttons = names();
    const to = along(event, buttons.indexOf(event.target), buttons.length);
    if (to < 0) return;
    event.preventDefault();
    rove(buttons, to);
    buttons[to].focus();
  });
  onTheme(() => value && (paint(), show(bar.at())), root);
  return draw;
});
