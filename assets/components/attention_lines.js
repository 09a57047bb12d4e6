// Attention as lines, queries on the left and keys on the right: of one head, or of several, each in its colour.
import { bytes } from "../arithmetic/binary.js";
import { along, moveOf } from "../arithmetic/moves.js";
import { el, rove, svg } from "../shared/dom.js";
import { drawn } from "../shared/mounting.js";
import { onTheme, rampTable } from "../shared/theme.js";
import * as linked from "./linked.js";
import * as shared from "./long_input.js";

drawn("AttentionLines", ({ root, trigger, settings }) => {
  const HEIGHT = settings.height ?? 600; // px, as in the style sheet
  const AROUND = 74; // px: headings and a two-line caption around the lines
  const ABOVE = 146; // px: the overview of a long input, if it stands above
  const MOST = 300; // most lines drawn at once in a window
  const name = `bx-fade-${Math.random().toString(36).slice(2)}`;
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
  const overviewFor = shared.overviewOf(box, () => {
    if (!value || !long()) return;
    build();
    lined = null;
    show();
  });

  const heads = () => Math.max(1, value.heads.length);
  const flat = (head, query, key) => (head * value.queries.tokens.length + query) * value.keys.tokens.length + key;
  const spot = (place, queries = value.queries.tokens.length, keys = value.keys.tokens.length) =>
    [Math.floor(place / keys / queries), Math.floor(place / keys) % queries, place % keys]; // of a flat index: head, query, key
  const at = (head, query, key) => (weights[flat(head, query, key)] / 255) ** 2 * value.top;
  const colour = (head) => (value.heads.length ? `var(--bx-series-${1 + (head % 8)})` : null);
  const everyHead = (fn) => Array.from({ length: heads() }, (_, head) => fn(head));
  const shade = (weight) => Math.sqrt(Math.min(1, weight / value.top));
  const long = () => Boolean(value.places.query || value.places.key);
  const has = (side, index) => index >= shown[side].first && index < shown[side].last;
  const of = (side) => (side === "query" ? value.queries : value.keys);

  function label(side) {
    const isInput = linked.isInput(of(side).tokens);
    return (token, index) =>
      el("button", { type: "button", class: `bx-${of(side).kinds[index]}`, "data-index": index, "data-token": isInput ? index : null, "data-side": side, title: token,
        "aria-label": `${token}, token ${index}, ${side}` }, el("bdi", {}, token));
  }

  function build() {
    for (const side of ["query", "key"]) {
      const places = value.places[side];
      shown[side] = places ? shared.range(places, side) : { first: 0, last: of(side).tokens.length };
      const { first, last } = shown[side];
      sides[side] = of(side).tokens.slice(first, last).map((token, i) => label(side)(token, first + i));
      columns[side].replaceChildren(...sides[side]);
      rove(sides[side], 0);
    }
    const rows = Math.max(sides.query.length, sides.key.length);
    const fits = Math.floor((HEIGHT - AROUND - (isStacked() ? ABOVE : 0)) / rows);
    row = fits < ROW.least ? ROW.most : Math.min(fits, ROW.most); // if it must scroll anyway, rows need not be small
    root.style.setProperty("--row", `${row}px`);
    picture.setAttribute("viewBox", `0 0 100 ${rows * row}`);
    picture.setAttribute("height", rows * row);
    picture.replaceChildren(...(long() ? [svg("defs", {}, fadeTo("key"), fadeTo("query"))] : []), edges);
    legend.replaceChildren(...value.heads.map((number, head) => el("span", { style: `color:${colour(head)}` }, `head ${number}`)));
  }

  const isStacked = () => long() && root.clientWidth < 480;

  // A gradient for lines that leave the window on the keys' or the queries' side.
  function fadeTo(side) {
    const stop = (offset, opacity) => svg("stop", { offset, "stop-color": "var(--bx-amount)", "stop-opacity": opacity });
    const ends = side === "key" ? [stop(0.1, 1), stop(0.6, 0)] : [stop(0.4, 0), stop(0.9, 1)];
    return svg("linearGradient", { id: `${name}-${side}`, gradientUnits: "userSpaceOnUse", x1: 0, x2: 100, y1: 0, y2: 0 }, ...ends);
  }

  // The height of a token; outside the window, just beyond its first or last row.
  function height(side, index) {
    const { first, last } = shown[side];
    if (has(side, index)) return (index - first + 0.5) * row;
    return index < first ? -2 * row : (last - first + 2) * row;
  }

  function line(head, query, key, opacity) {
    const [from, to] = [height("query", query), height("key", key)];
    const leaves = !has("key", key) ? "key" : !has("query", query) ? "query" : null;
    const stroke = colour(head) ?? (leaves ? `url(#${name}-${leaves})` : null);
    return svg("path", { d: `M0 ${from}C40 ${from} 60 ${to} 100 ${to}`, "stroke-opacity": opacity.toFixed(3), stroke });
  }

  // The strongest lines of the tokens in the window, and how many there are.
  function edgesInWindow() {
    const found = [];
    for (let place = 0; place < weights.length; place++) {
      const [, query, key] = spot(place);
      if (weights[place] && (has("query", query) || has("key", key))) found.push(place);
    }
    found.sort((a, b) => weights[b] - weights[a]);
    const [rows, columns] = ["query", "key"].map((side) => shown[side].last - shown[side].first);
    return { strongest: found.slice(0, MOST), count: heads() * (rows * value.keys.tokens.length + columns * (value.queries.tokens.length - rows)) };
  }

  // Draw the strongest lines of all, the strongest on top.
  function showAll() {
    const all = long() ? edgesInWindow() : { strongest: value.edges, count: weights.length };
    const chosen = all.strongest.map((place) => spot(place));
    edges.replaceChildren(...chosen.map((place) => line(...place, shade(at(...place)))).reverse());
    for (const button of [...sides.query, ...sides.key]) button.style.removeProperty("--weight");
    const [most, count] = [chosen.length, all.count].map((number) => number.toLocaleString("en-US"));
    const few = chosen.length < all.count ? `The ${most} strongest of ${count} edges${long() ? " of these tokens; a line that fades leads to others" : ""}. ` : "";
    caption.replaceChildren(`${few}Lines darken up to a weight of ${Number(value.top.toPrecision(2))} (√ scale).`, el("span", { class: "bx-hint" }, " Point at a token to see only its edges."));
  }

  // Draw all lines of one token only.
  function showOne({ side, index }) {
    const other = side === "query" ? "key" : "query";
    const strongest = value.strongest[side];
    const place = (head, i) => (side === "query" ? [head, index, i] : [head, i, index]);
    const share = (head, i) => shade(at(...place(head, i)));
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
    value.edges = Array.from(new Uint32Array(bytes(value.edges).buffer));
    overview = overviewFor(long() ? `bx-windowed bx-over-${Object.keys(axes()).sort().join("")}${isStacked() ? " bx-stacked" : ""}` : "");
    if (overview) survey();
    if (!same) {
      build();
      locked = null;
    }
    if (value.selected != null) locked = { side: locked?.side ?? "query", index: value.selected };
    lined = null;
    show();
  }

  const axes = () => Object.fromEntries([["x", value.places.key], ["y", value.places.query]].filter(([, places]) => places));

  function survey() {
    const [rows, columns] = [value.queries.tokens.length, value.keys.tokens.length];
    const level = (query, key) => Math.max(...everyHead((head) => weights[flat(head, query, key)]));
    const paint = shared.paintMatrix({ rows, columns, level, table: rampTable() });
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
    if (locked?.side === chosen.side && locked.index === chosen.index) {
      locked = null;
      return show();
    }
    locked = chosen;
    show();
    trigger("select", { index: chosen.index, value: of(chosen.side).tokens[chosen.index], side: chosen.side });
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
  const fade = () => box.classList.toggle("bx-more", box.scrollTop + box.clientHeight < box.scrollHeight - 1);
  box.addEventListener("scroll", fade);
  new ResizeObserver(fade).observe(box);
  onTheme(() => overview && survey(), root);
  if (settings.height) root.style.height = root.style.maxHeight = `${HEIGHT}px`;
  return draw;
});
