// Draws a view that is a file of its own, from the values that stand in it. Nothing is asked of any server.
(async () => {
  "use strict";
  const { el } = BertExplorer;
  const data = JSON.parse(document.getElementById("bx-data").textContent);
  const main = document.querySelector("main");
  const ASKS = new Set(["HeadGrid", "SwitchBoard", "TokenRow", "Bars", "WordGrid", "Ranking", "Architecture", "Chips"]); // Python, when clicked

  // ---- The theme: the system's, unless the file says another, or a person does.

  const system = matchMedia("(prefers-color-scheme: dark)");
  const wished = document.body.dataset.theme;
  const dress = (dark) => document.body.classList.toggle("dark", dark);
  dress(wished ? wished === "dark" : system.matches);
  system.addEventListener("change", () => wished || dress(system.matches));

  // ---- What was packed.

  async function inflated(base64) {
    const stream = new Blob([BertExplorer.bytes(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  const unpacked = async (value) => (value && typeof value.deflate === "string" ? JSON.parse(await inflated(value.deflate)) : value);

  let arrives = null;
  BertExplorer.plotly = () => (arrives ??= (async () => {
    const packed = document.getElementById("bx-plotly");
    document.head.append(el("script", {}, await inflated(packed.textContent)));
    packed.remove();
    return window.Plotly;
  })());

  // ---- The parts.

  // A frame of rows, as `gr.Dataframe` takes them or as pandas writes them.
  function frame({ columns, rows, label }) {
    const title = label ? [el("caption", {}, label)] : [];
    const row = (tag) => (cells) => el("tr", {}, ...cells.map((cell) => el(tag, {}, cell == null ? "" : String(cell))));
    const table = el("table", { class: "bx-frame-table" }, ...title, el("thead", {}, row("th")(columns)), el("tbody", {}, ...rows.map(row("td"))));
    return el("div", { class: "bx-scrolls" }, table);
  }

  const others = {
    prose: (value) => BertExplorer.prose(value),
    code: (value) => [el("pre", {}, value)],
    frame: (value) => [frame(value)],
  };

  // What is clicked, told to what is around the page, where that answers.
  const asked = data.live && ((part, event, { index = null, customdata = null }) =>
    window.parent.postMessage({ bertExplorer: data.frame, view: part.view, part: part.name, event, index, customdata }, "*"));

  async function filled(box, part) {
    const value = await unpacked(part.value);
    if (!part.component) return box.replaceChildren(...others[part.kind](value));
    const props = { value };
    const root = el("div", { class: part.skeleton });
    box.replaceChildren(root);
    if (ASKS.has(part.component) && !(asked && part.view)) {
      box.classList.add("bx-still");
      for (const kind of ["click", "dblclick", "keydown"]) {
        box.addEventListener(kind, (event) => event.key === "Tab" || event.target.closest(".bx-save") || event.stopImmediatePropagation(), { capture: true });
      }
    }
    BertExplorer.mount(part.component, box, (event, told) => part.view && asked && asked(part, event, told), props, () => {}, part.options);
  }

  const boxes = []; // [box, part], filled when they have their place

  function placed(part) {
    const class_ = ["bx-part", part.kind === "check" ? "bx-check" : "", part.caption ? "bx-caption" : ""].filter(Boolean).join(" ");
    const box = el("div", { class: class_, "data-part": part.name });
    boxes.push([box, part]);
    return box;
  }

  function parts(list) {
    const [seen, more] = [list.filter((one) => !one.more), list.filter((one) => one.more)];
    const folded = more.length ? [el("details", {}, el("summary", {}, "More"), ...more.map(placed))] : [];
    return [...seen.map(placed), ...folded];
  }

  function view(one) {
    for (const part of one.parts) part.view = one.name;
    const beside = new Set(one.columns.flatMap(({ names }) => names));
    const found = (names) => one.parts.filter((part) => names.includes(part.name));
    const rest = one.parts.filter((part) => !beside.has(part.name));
    const first = one.parts.findIndex((part) => beside.has(part.name));
    const above = rest.filter((part) => one.parts.indexOf(part) < first);
    const columns = one.columns.map(({ names, width }) => el("div", { style: `--width:${width}` }, ...parts(found(names))));
    const title = one.heading ? [el("h2", {}, one.heading)] : [];
    const note = one.note ? [el("p", { class: "bx-caption" }, one.note)] : [];
    const side = columns.length ? [el("div", { class: "bx-side" }, ...columns)] : [];
    return el("section", { class: "bx-view", style: `--width:${one.width}`, "data-view": one.name },
      ...title, ...note, ...parts(above), ...side, ...parts(rest.filter((part) => !above.includes(part))));
  }

  // ---- The page.

  const toggle = el("button", { type: "button", title: "light or dark", "aria-label": "light or dark" }, "◐");
  toggle.addEventListener("click", () => dress(!document.body.classList.contains("dark")));
  const link = (side) => (side.address ? [" · ", el("a", { href: side.address, rel: "noreferrer" }, "open it in the app")] : []);

  function side(one, index) {
    const title = el("h1", {}, one.question);
    const input = one.input ? [Object.assign(placed(one.input), { className: "bx-strip-of-input" })] : [];
    return el("article", {},
      el("div", { class: "bx-top" }, title, ...(index ? [] : [toggle])),
      ...input,
      ...(one.finding ? [el("p", { class: "bx-found" }, one.finding)] : []),
      el("div", { class: "bx-views" }, ...one.views.map(view)),
      el("footer", {}, one.made, ...link(one)));
  }

  main.append(...data.sides.map(side));
  main.classList.toggle("bx-sides", data.sides.length > 1);
  for (const [box, part] of boxes) await filled(box, part);
  document.body.dataset.drawn = "yes";

  // ---- In the frame of a notebook, as high as what it shows.

  if (window.parent !== window) {
    const high = () => Math.ceil(main.getBoundingClientRect().height);
    const tell = () => high() && window.parent.postMessage({ bertExplorer: data.frame, height: high() }, "*");
    new ResizeObserver(tell).observe(main);
    for (const moment of [0, 200, 1000]) setTimeout(tell, moment); // observers sleep in a frame that is out of sight
  }
})();
