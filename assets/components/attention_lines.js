// One head as lines: what looks on the left, what is looked at on the right.
BertExplorer.define("AttentionLines", ({ element, trigger, props, settings }) => {
  const { el, svg, rove } = BertExplorer;
  const root = element.querySelector(".bx-lines");
  const HEIGHT = settings.height ?? 600; // px, as in the style sheet
  const AROUND = 74; // px: the headings above the lines and a caption of two lines below them
  const ROW = { least: 16, most: 22 }; // px
  let row = ROW.most;
  let value = null;
  let content = "";
  let weights = null; // 255 * sqrt(weight / the strongest), row by row
  let locked = null; // {side: "query" | "key", index}
  let sides = {};
  let edges = null;
  let caption = null;
  let drawn = null; // what is drawn now: "all", or the side and index of one token

  const at = (query, key) => (weights[query * value.keys.tokens.length + key] / 255) ** 2 * value.top;
  const of = (side) => (side === "query" ? value.queries : value.keys);

  function label(side) {
    return (token, index) =>
      el("button", { type: "button", class: `bx-${of(side).kinds[index]}`, "data-index": index, "data-side": side, title: token,
        "aria-label": `${token}, token ${index}, ${side}` }, el("bdi", {}, token));
  }

  function build() {
    sides = { query: value.queries.tokens.map(label("query")), key: value.keys.tokens.map(label("key")) };
    edges = svg("g", {});
    caption = el("p", { class: "bx-lines-caption", role: "status" });
    const rows = Math.max(sides.query.length, sides.key.length);
    const fits = Math.floor((HEIGHT - AROUND) / rows);
    row = fits < ROW.least ? ROW.most : Math.min(fits, ROW.most); // what has to scroll anyway need not be small
    root.style.setProperty("--row", `${row}px`);
    const height = rows * row;
    const picture = svg("svg", { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", height, "aria-hidden": "true" }, edges);
    const column = (side, heading) => el("div", { role: "group", "aria-label": heading }, ...sides[side]);
    const box = el("div", { class: "bx-lines-box" },
      el("b", {}, "query: looks"), el("b", {}), el("b", {}, "key: is looked at"),
      column("query", "query: looks"), picture, column("key", "key: is looked at"));
    const fade = () => box.classList.toggle("bx-more", box.scrollTop + box.clientHeight < box.scrollHeight - 1);
    box.addEventListener("scroll", fade);
    new ResizeObserver(fade).observe(box);
    root.replaceChildren(box, caption);
    rove(sides.query, 0);
    rove(sides.key, 0);
  }

  function line(query, key, opacity) {
    const from = (query + 0.5) * row;
    const to = (key + 0.5) * row;
    return svg("path", { d: `M0 ${from}C40 ${from} 60 ${to} 100 ${to}`, "stroke-opacity": opacity.toFixed(3) });
  }

  // The strongest edges of all, the strongest on top.
  function showAll() {
    const chosen = value.edges.map((flat) => [Math.floor(flat / sides.key.length), flat % sides.key.length]);
    edges.replaceChildren(...chosen.map(([query, key]) => line(query, key, Math.min(1, at(query, key) / value.top))).reverse());
    for (const button of [...sides.query, ...sides.key]) button.style.removeProperty("--weight");
    const all = sides.query.length * sides.key.length;
    const few = value.edges.length < all ? `The ${value.edges.length.toLocaleString("en-US")} strongest of ${all.toLocaleString("en-US")} edges. ` : "";
    caption.replaceChildren(`${few}The darkest line is a weight of ${value.top.toPrecision(2)}. Point at a token to see only its edges.`);
  }

  // Only the edges of one token, all of them.
  function showOne({ side, index }) {
    const other = side === "query" ? "key" : "query";
    const strongest = value.strongest[side];
    const top = Math.max(strongest.weight[index], 1e-9);
    const share = (i) => Math.min(1, (side === "query" ? at(index, i) : at(i, index)) / top);
    const order = [...sides[other].keys()].filter((i) => share(i) > 0.004).sort((a, b) => share(a) - share(b));
    edges.replaceChildren(...order.map((i) => (side === "query" ? line(index, i, share(i)) : line(i, index, share(i)))));
    sides[other].forEach((button, i) => button.style.setProperty("--weight", share(i).toFixed(3)));
    sides[side].forEach((button) => button.style.removeProperty("--weight"));
    const token = (where, i) => el("bdi", {}, of(where).tokens[i]);
    const says = side === "query" ? " looks most at " : " is looked at most by ";
    caption.replaceChildren(token(side, index), says, token(other, strongest.index[index]), `: ${strongest.weight[index].toPrecision(3)}`);
  }

  function show(focus) {
    const now = focus ?? locked;
    for (const side of ["query", "key"]) {
      sides[side].forEach((button, i) => {
        button.setAttribute("aria-pressed", String(locked?.side === side && locked.index === i));
        button.classList.toggle("bx-here", now?.side === side && now.index === i);
      });
    }
    const next = now ? `${now.side} ${now.index}` : "all";
    if (next === drawn) return;
    drawn = next;
    if (now) showOne(now);
    else showAll();
  }

  function draw() {
    value = BertExplorer.plain(props.value);
    const tokens = value ? JSON.stringify([value.queries, value.keys]) : "";
    const same = tokens === content;
    content = tokens;
    if (!value) return root.replaceChildren();
    weights = BertExplorer.bytes(value.data);
    value.edges = Array.from(new Uint32Array(BertExplorer.bytes(value.edges).buffer));
    if (!same) {
      build();
      locked = null;
    }
    if (value.selected != null) locked = { side: locked?.side ?? "query", index: value.selected };
    drawn = null;
    show();
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
    if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowUp: [here.side, here.index - 1], ArrowDown: [here.side, here.index + 1],
      ArrowLeft: ["query", here.index], ArrowRight: ["key", here.index] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const button = sides[move[0]][move[1]];
    if (!button) return;
    rove(sides[move[0]], move[1]);
    button.focus();
  });
  if (settings.height) root.style.height = root.style.maxHeight = `${HEIGHT}px`;
  return draw;
});
