// Attention as lines, queries on the left and keys on the right: of one head, or of several, each in its colour.
import { bytes } from "../arithmetic/binary.js";
import { along, el, moveOf, rove, svg } from "../shared/dom.js";
import { drawn } from "../shared/mounting.js";
import { onTheme, rampTable } from "../shared/theme.js";
import * as linked from "./linked.js";
import * as shared from "./long_input.js";

drawn("AttentionLines", ({ root, trigger, settings }) => {
  const HEIGHT = settings.height ?? 600; // px, as in the style sheet
  const AROUND = 74; // px: headings and a two-line caption around the lines
  const ABOVE = 146; // px: the overview of a long input, if it stands above
  const MOST = { all: 1500, window: 300 }; // lines drawn at once
  const ROW = { least: 16, most: 22 }; // px
  let row = ROW.most;
  let value = null;
  let content = "";
  let weights = null; // 255 * sqrt(weight / the end of the scale), head by head and row by row
  let locked = null; // {side: "query" | "key", index}
  let sides = {}; // the buttons by side,
  let shown = {}; // and the places [first, last) of each side that they show
  let overview = null; // of a long input
  let lined = null; // what is drawn: "all", or the side and index of one token

  const edges = svg("g", {});
  const picture = svg("svg", { preserveAspectRatio: "none", role: "img" }, edges);
  const legend = el("b", { class: "bx-lines-heads" });
  const columns = { query: el("div", { role: "group", "aria-label": "query: looks" }), key: el("div", { role: "group", "aria-label": "key: is looked at" }) };
  const box = el("div", { class: "bx-lines-box" }, el("b", {}, "query: looks"), legend, el("b", {}, "key: is looked at"), columns.query, picture, columns.key);
  const caption = el("p", { class: "bx-lines-caption", role: "status" });
  const overviewFor = shared.overviewOf(box, () => value && long() && redraw(true));

  const flat = (head, query, key) => (head * value.queries.tokens.length + query) * value.keys.tokens.length + key;
  const spot = (place, queries = value.queries.tokens.length, keys = value.keys.tokens.length) =>
    [Math.floor(place / keys / queries), Math.floor(place / keys) % queries, place % keys]; // of a flat index: head, query, key
  const shade = (...place) => weights[flat(...place)] / 255;
  const colour = (head) => (value.heads.length ? `var(--bx-series-${1 + (head % 8)})` : null);
  const everyHead = (fn) => Array.from({ length: Math.max(1, value.heads.length) }, (_, head) => fn(head));
  const long = () => Boolean(value.places.query || value.places.key);
  const has = (side, index) => index >= shown[side].first && index < shown[side].last;
  const of = (side) => (side === "query" ? value.queries : value.keys);

  function build() {
    for (const side of ["query", "key"]) {
      const [places, { tokens, kinds }] = [value.places[side], of(side)];
      shown[side] = places ? shared.range(places, side) : { first: 0, last: tokens.length };
      const isInput = linked.isInput(tokens);
      sides[side] = [...tokens.entries()].filter(([index]) => has(side, index)).map(([index, token]) =>
        el("button", { type: "button", class: `bx-${kinds[index]}`, "data-index": index, "data-token": isInput ? index : null, "data-side": side, title: token,
          "aria-label": `${token}, token ${index}, ${side}` }, el("bdi", {}, token)));
    }
    const rows = Math.max(sides.query.length, sides.key.length);
    const fits = Math.floor((HEIGHT - AROUND - (isStacked() ? ABOVE : 0)) / rows);
    row = fits < ROW.least ? ROW.most : Math.min(fits, ROW.most); // if it must scroll anyway, rows need not be small
    root.style.setProperty("--row", `${row}px`);
    picture.setAttribute("viewBox", `0 0 100 ${rows * row}`);
    picture.setAttribute("height", rows * row);
    legend.replaceChildren(...value.heads.map((number, head) => el("span", { style: `color:${colour(head)}` }, `head ${number}`)));
    for (const side of ["query", "key"]) {
      columns[side].replaceChildren(...sides[side]);
      rove(sides[side], 0);
    }
  }

  const isStacked = () => long() && root.clientWidth < 480;
  // The height of a token; outside the window, just beyond its first or last row.
  function height(side, index) {
    const { first, last } = shown[side];
    if (has(side, index)) return (index - first + 0.5) * row;
    return index < first ? -2 * row : (last - first + 2) * row;
  }

  function line(head, query, key, opacity) {
    const [from, to] = [height("query", query), height("key", key)];
    return svg("path", { d: `M0 ${from}C40 ${from} 60 ${to} 100 ${to}`, "stroke-opacity": opacity.toFixed(3), stroke: colour(head) });
  }

  // Draw the strongest lines of the tokens that are shown, the strongest on top.
  function showAll() {
    const found = [];
    for (let place = 0; place < weights.length; place++) {
      const [, query, key] = spot(place);
      if (has("query", query) || has("key", key)) found.push(place);
    }
    const strongest = found.sort((a, b) => weights[b] - weights[a]).slice(0, long() ? MOST.window : MOST.all).map((place) => spot(place));
    edges.replaceChildren(...strongest.map((place) => line(...place, shade(...place))).reverse());
    for (const button of [...sides.query, ...sides.key]) button.style.removeProperty("--weight");
    const [most, count] = [strongest.length, found.length].map((number) => number.toLocaleString("en-US"));
    const few = strongest.length < found.length ? `The ${most} strongest of ${count} edges${long() ? " of these tokens; a line that leaves the picture leads to others" : ""}. ` : "";
    caption.replaceChildren(`${few}Lines darken up to a weight of ${Number(value.top.toPrecision(2))} (√ scale).`, el("span", { class: "bx-hint" }, " Point at a token to see only its edges."));
  }

  // Draw all lines of one token only.
  function showOne({ side, index }) {
    const other = side === "query" ? "key" : "query";
    const strongest = value.strongest[side];
    const place = (head, i) => (side === "query" ? [head, index, i] : [head, i, index]);
    const share = (head, i) => shade(...place(head, i));
    const tokens = [...of(other).tokens.keys()].filter((i) => has(other, i) || has(side, index));
    const order = everyHead((head) => tokens.map((i) => [head, i])).flat().filter((one) => share(...one) > 0.02).sort((a, b) => share(...a) - share(...b));
    edges.replaceChildren(...order.map((one) => line(...place(...one), share(...one))));
    sides[other].forEach((button, i) => button.style.setProperty("--weight", Math.max(...everyHead((head) => share(head, shown[other].first + i))).toFixed(3)));
    sides[side].forEach((button) => button.style.removeProperty("--weight"));
    const token = (where, i) => el("bdi", {}, of(where).tokens[i]);
    const says = side === "query" ? " looks most at " : " is looked at most by ";
    const head = value.heads.length ? ` in head ${value.heads[strongest.head[index]]}` : "";
    caption.replaceChildren(token(side, index), says, token(other, strongest.index[index]), `${head}: ${strongest.weight[index].toPrecision(3)}`);
  }

  function show(focus) {
    picture.setAttribute("aria-label", value.alt);
    const now = focus ?? locked;
    for (const side of ["query", "key"]) {
      sides[side].forEach((button, place) => {
        const i = shown[side].first + place;
        button.setAttribute("aria-pressed", String(locked?.side === side && locked.index === i));
        button.classList.toggle("bx-here", now?.side === side && now.index === i);
      });
    }
    const next = now ? `${now.side} ${now.index}` : "all";
    if (next === lined) return;
    lined = next;
    if (now) showOne(now);
    else showAll();
  }

  function draw(sent) {
    value = sent;
    const tokens = value ? JSON.stringify([value.queries, value.keys, value.heads]) : "";
    const same = tokens === content;
    content = tokens;
    if (!value) return root.replaceChildren();
    if (!root.firstChild) root.append(box.parentElement ?? box, caption);
    weights = bytes(value.data);
    overview = overviewFor(long() ? `bx-windowed bx-over-${Object.keys(axes()).sort().join("")}${isStacked() ? " bx-stacked" : ""}` : "");
    if (overview) survey();
    if (!same) locked = null;
    if (value.selected != null) locked = { side: locked?.side ?? "query", index: value.selected };
    redraw(!same);
  }

  function redraw(rebuilds) {
    if (rebuilds) build();
    lined = null;
    show();
  }

  const axes = () => Object.fromEntries([["x", value.places.key], ["y", value.places.query]].filter(([, places]) => places));

  function survey() {
    const level = (query, key) => Math.max(...everyHead((head) => weights[flat(head, query, key)]));
    const paint = shared.paintMatrix({ rows: value.queries.tokens.length, columns: value.keys.tokens.length, level, table: rampTable() });
    requestAnimationFrame(() => value && overview?.draw(axes(), paint)); // after the layout
  }

  const target = (event) => {
    const button = event.target.closest?.("button");
    return button && { side: button.dataset.side, index: Number(button.dataset.index) };
  };
  root.addEventListener("pointerover", (event) => event.pointerType !== "touch" && value && show(target(event)));
  root.addEventListener("pointerleave", () => value && show());
  root.addEventListener("focusin", (event) => event.target.matches?.(":focus-visible") && show(target(event)));
  root.addEventListener("focusout", () => value && show());
  root.addEventListener("click", (event) => {
    const chosen = target(event);
    if (!chosen) return;
    const again = locked?.side === chosen.side && locked.index === chosen.index;
    locked = again ? null : chosen;
    show();
    if (!again) trigger("select", { index: chosen.index, value: of(chosen.side).tokens[chosen.index], side: chosen.side });
  });
  root.addEventListener("keydown", (event) => {
    const here = target(event);
    if (!here || !moveOf(event)) return;
    event.preventDefault();
    const side = { ArrowLeft: "query", ArrowRight: "key" }[event.key] ?? here.side;
    const at = here.index - shown[side].first;
    const place = side === here.side ? along(event, at, sides[side].length) : at;
    const button = sides[side][place];
    if (!button) return;
    rove(sides[side], place);
    button.focus();
  });
  onTheme(() => overview && survey(), root);
  if (settings.height) root.style.height = root.style.maxHeight = `${HEIGHT}px`;
  return draw;
});
