// The whole model in one picture: a row a token, a column a hidden state, and the routes that end in a chosen place.
import { bytes } from "../arithmetic/binary.js";
import { moveOf } from "../arithmetic/moves.js";
import { percent } from "../arithmetic/numbers.js";
import { continued, headsFor, routesTo, shareOf, sharesFrom } from "../arithmetic/routes.js";
import { arrange, el, plain, reveal, rove, svg } from "../shared/dom.js";
import { gridKeys } from "../shared/grid.js";
import { host } from "../shared/host.js";
import { choiceHere, define } from "../shared/mounting.js";
import { cardOf } from "./flow/cards.js";

define("Flow", ({ element, trigger, props }) => {
  const root = element.querySelector(".bx-flow");
  const LEAST = 0.004; // routes with a smaller share of the chosen place are not drawn
  const MOST = 220; // routes drawn at once
  const HEAD = { full: 46, bare: 28 }; // px of the titles above the rows, and without the line below each
  const BARE = 118; // px of a column that is too narrow for that line
  const ROW = { least: 17, most: 36 }; // px of the screen, however much is enlarged
  const PLAYER = 104; // px that the button of the story needs above the names
  const PAUSE = 4200; // ms at each stop of the story
  const UNFOLDED = 336; // px: width of an unfolded layer
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  let value = null;
  let mixing = null; // [layers * rows * rows] shares, if the browser can compute the routes
  let frame = ""; // what the nodes that are not rows were made for
  let shape = ""; // what the rows were made for
  let before = []; // the tokens of the last drawing
  let target = { state: 0, row: 0 };
  const chosen = choiceHere();
  let boxes = []; // row by row, one for each hidden state
  let labels = [];
  let titles = [];
  let lines = new Map(); // the drawn routes, by layer, query and key
  let outputs = new Map(); // the groups of bars, by what they show
  let sheet, field, cells, edges, hits, names, below, card, story, said, note, player;
  let stops = []; // the story's buttons; the last one shows the whole picture
  let size = {}; // lengths in px
  let drawnFor = 0; // px: width at the last drawing, 0 before the first
  let stop = -1; // the story's current stop, -1 for the whole picture
  let playing = 0;

  const states = () => value.states;
  const alone = () => Array.isArray(value.layers); // in a file or a notebook: only the value's own data is available
  const rows = () => value.tokens.length;
  const share = (layer, query, key) => shareOf(mixing, rows(), layer, query, key);

  // ---- Layout.

  const topOf = () => sheet.getBoundingClientRect().top + scrollY;

  function measure() {
    const width = root.clientWidth || 960;
    const stage = root.closest("[data-presented]"); // presented: enlarged, with the full height
    const zoom = stage ? root.currentCSSZoom ?? 1 : 1;
    const phone = width < 640;
    const label = stage ? 92 : phone ? 78 : PLAYER;
    const under = phone && !stage; // the answers, since beside the picture they would take half of the width
    const output = stage ? 150 : under ? 12 : Math.min(240, Math.max(190, width * (states() > 9 ? 0.15 : 0.19)));
    const extra = value.inside ? Math.min(UNFOLDED, width - label) : 0;
    const fits = (width - label - output - extra) / states();
    const column = Math.max(extra || stage ? 58 : 66, Math.min(190, fits));
    const told = story.classList.contains("bx-telling") ? story.offsetHeight : 0;
    const paper = root.closest(".bx-paper"); // the same in every window
    const free = alone() ? innerHeight * 0.7 : innerHeight - topOf() - 4; // a file or a notebook has no first screen
    const fold = paper ? HEAD.full + 24 * rows() : stage ? stage.clientHeight / zoom - told - 8 : free;
    const head = column < BARE ? HEAD.bare : HEAD.full;
    const room = Math.max(fold, 240) - head - 8; // all rows end on the first screen, if that leaves them legible
    const row = Math.max((phone && !stage ? 22 : ROW.least) / zoom, Math.min(ROW.most, room / rows()));
    const letters = Math.max(stage ? 7.6 : 9.5, Math.min(16, row * 0.6, column * 0.165));
    size = { label, output, under, extra, column, row, letters, head, box: Math.min(140, column * (column < 92 ? 0.82 : 0.68)), height: head + rows() * row + 8 };
    size.line = Math.max(21, Math.round(letters * 1.6)); // of the answers
    size.fold = fold;
    size.top = topOf();
    size.field = states() * column + extra + output;
    size.seen = Math.min(size.height, Math.max(fold, 240)); // answers must not start below the first screen
  }

  const x = (state) => (state + 0.5) * size.column + (value.inside && state >= value.inside.layer ? size.extra : 0);
  const y = (row) => size.head + (row + 0.5) * size.row;
  const hue = (row) => `var(--bx-flow-${value.elsewhere && row === rows() - 1 ? "special" : value.kinds[row] === "mask" ? "blank" : value.kinds[row] === "special" ? "special" : value.segments[row] ? "b" : "a"})`;

  // The routes that end in a place; where they cannot be computed here, those that were sent.
  const trace = (place) => (mixing ? routesTo(mixing, rows(), place, LEAST) : { shares: value.shares, routes: value.routes });

  // ---- The nodes.

  // What does not depend on the tokens.
  function build() {
    titles = Array.from({ length: states() }, (_, state) =>
      el("button", { type: "button", class: "bx-flow-title", "data-layer": state, disabled: state && (!alone() || value.layers.length) ? null : "" },
        el("b", {}, state ? `layer ${state}` : "embeddings"), el("span", {}, state ? "look around, think" : "three vectors, one sum")));
    [labels, boxes, lines, outputs] = [[], [], new Map(), new Map()];
    edges = svg("g", {});
    hits = svg("g", { class: "bx-flow-hits" });
    names = el("div", { class: "bx-flow-names" });
    cells = el("div", {});
    const drawing = svg("svg", { class: "bx-flow-lines", "aria-hidden": "true" }, edges, hits);
    field = el("div", { class: "bx-flow-field" }, drawing, ...titles, cells);
    sheet = el("div", { class: "bx-flow-sheet" }, names, field);
    const scroll = el("div", { class: "bx-flow-scroll" }, sheet);
    player = el("button", { type: "button", class: "bx-flow-play" });
    stops = [...value.stops.map(({ title }, n) => el("button", { type: "button", "data-stop": n }, `${n + 1} ${title}`)), el("button", { type: "button", "data-stop": -1 }, "all at once")];
    said = el("p", { role: "status" });
    story = el("div", { class: "bx-flow-story" }, el("div", { class: "bx-flow-stops", role: "toolbar", "aria-label": "the picture step by step" }, player, ...stops), said);
    below = el("div", { class: "bx-flow-below" });
    note = el("p", { class: "bx-flow-note" });
    root.replaceChildren(story, scroll, below, note);
    card = null;
  }

  // The rows, out of the nodes of those that they continue, so that everything glides to its new place.
  function buildRows(before) {
    const from = continued(value.tokens, before);
    const last = states() - 1;
    const button = (old, options) => {
      const node = old ?? el("button", { type: "button" }, el("bdi", {}));
      for (const [name, option] of Object.entries(options)) node.setAttribute(name, option);
      return node;
    };
    labels = arrange(names, labels, value.tokens.map((token, row) => {
      const label = button(labels[from[row]], { tabindex: "-1", class: `bx-flow-label bx-${value.kinds[row]}`, "data-row": row, "data-token": value.places[row], "data-state": last, title: token });
      label.firstChild.textContent = token;
      return label;
    }));
    boxes = arrange(cells, boxes, value.tokens.flatMap((_, row) => Array.from({ length: states() }, (_, state) =>
      button(boxes[from[row] * states() + state], { class: "bx-flow-box", "data-row": row, "data-token": value.places[row], "data-state": state }))));
    const to = new Map(from.map((old, row) => [String(old), row]));
    const moved = [...lines].map(([name, line]) => {
      const [layer, query, key] = name.split(" ");
      return [`${layer} ${to.get(query)} ${to.get(key)}`, line];
    });
    for (const [name, line] of moved) if (name.includes("undefined")) line.remove();
    lines = new Map(moved.filter(([name]) => !name.includes("undefined")));
    rove(boxes, 0);
  }

  function place() {
    measure();
    const px = (number) => `${number.toFixed(1)}px`;
    root.style.setProperty("--row", px(size.row));
    root.style.setProperty("--letters", px(size.letters));
    root.style.setProperty("--line", px(size.line));
    names.style.width = px(size.label);
    sheet.style.height = px(size.height);
    field.style.width = px(size.field);
    const drawing = field.firstChild;
    drawing.setAttribute("width", size.field);
    drawing.setAttribute("height", size.height);
    titles.forEach((title, state) => {
      title.style.left = px(x(state) - size.column / 2);
      title.style.width = px(size.column);
      title.classList.toggle("bx-narrow", size.column < 92);
      title.classList.toggle("bx-bare", size.column < BARE);
    });
    labels.forEach((label, row) => (label.style.top = px(y(row) - size.row / 2)));
    boxes.forEach((box) => {
      box.style.left = px(x(Number(box.dataset.state)) - size.box / 2);
      box.style.top = px(y(Number(box.dataset.row)) - size.row * 0.4);
      box.style.width = px(size.box);
    });
  }

  const curve = (fromX, fromY, toX, toY) => {
    const middle = (toX - fromX) / 2;
    return `M${fromX.toFixed(1)} ${fromY.toFixed(1)}C${(fromX + middle).toFixed(1)} ${fromY.toFixed(1)} ${(toX - middle).toFixed(1)} ${toY.toFixed(1)} ${toX.toFixed(1)} ${toY.toFixed(1)}`;
  };

  // A line that is drawn already glides to its new width; a new one grows from nothing.
  function drawLines(routes, shown) {
    const strongest = routes.filter(([layer]) => layer < shown).sort((a, b) => b[3] - a[3]).slice(0, MOST);
    const now = new Map();
    const fresh = [];
    for (const [layer, query, key, part] of strongest) {
      const name = `${layer} ${query} ${key}`;
      const own = query === key;
      const line = lines.get(name) ?? svg("path", { "stroke-width": "0", "stroke-opacity": "0" });
      if (!line.isConnected) fresh.push(line);
      line.setAttribute("d", curve(x(layer) + size.box / 2, y(key), x(layer + 1) - size.box / 2, y(query)));
      line.style.stroke = own ? "var(--bx-flow-own)" : hue(key);
      line.goal = [Math.max(0.8, 12 * Math.sqrt(part) * (own ? 0.6 : 0.85)), own ? 0.35 : 0.22 + 0.6 * Math.min(1, 2.5 * part)];
      now.set(name, line);
    }
    edges.append(...fresh);
    if (fresh.length && !still.matches) fresh[0].getBoundingClientRect(); // start the transition at width 0
    for (const [name, line] of lines) if (!now.has(name)) line.remove();
    for (const line of now.values()) {
      line.setAttribute("stroke-width", line.goal[0].toFixed(2));
      line.setAttribute("stroke-opacity", line.goal[1].toFixed(3));
      line.style.strokeWidth = `${line.goal[0].toFixed(2)}px`;
      line.style.strokeOpacity = line.goal[1].toFixed(3);
    }
    lines = now;
    hits.replaceChildren(...strongest.slice(0, 80).reverse().map(([layer, query, key, part]) => {
      const hit = svg("path", { d: lines.get(`${layer} ${query} ${key}`).getAttribute("d"), "data-route": JSON.stringify([layer, query, key]) });
      hit.append(svg("title", {}, tellRoute(layer, query, key, part)));
      return hit;
    }));
  }

  const name = (row) => `“${value.tokens[row]}”`;
  function tellRoute(layer, query, key, part) {
    const of = mixing ? ` ${percent(share(layer, query, key))}` : "";
    const how = query === key ? `${name(query)} keeps${of} of itself` : `${name(query)} takes${of} from ${name(key)}`;
    return `layer ${layer + 1}: ${how}; ${percent(part)} of what stands at the chosen place came this way`;
  }

  function drawBoxes(shares, shown) {
    const { state: end, row: chosenRow } = target;
    boxes.forEach((box) => {
      const [row, state] = [Number(box.dataset.row), Number(box.dataset.state)];
      const part = state <= end ? shares[state]?.[row] ?? 0 : 0;
      const words = value.words?.[state]?.[row];
      const word = words ? words[0][0] : value.moved ? (value.moved[state]?.[row] ?? 0).toFixed(2) : "";
      box.firstChild.textContent = word;
      const before = value.before?.[state]?.[row];
      const at = state === end && row === chosenRow;
      box.classList.toggle("bx-changed", before != null);
      box.setAttribute("aria-pressed", String(at));
      box.classList.toggle("bx-later", state > shown);
      box.style.setProperty("--hue", hue(row));
      box.style.setProperty("--share", `${part > 0.004 ? Math.round(10 + 46 * Math.sqrt(part)) : 0}%`);
      box.classList.toggle("bx-far", part < (words && word === value.tokens[row] ? 0.06 : 0.02)); // such pale boxes need legible text
      const where = `${state ? `after layer ${state}` : "embeddings"}, ${value.tokens[row]}`;
      const read = words ? `: read as ${words.map(([one, p]) => `${one} ${percent(p)}`).join(", ")}` : value.moved && state ? `: moved by ${word} (1 − cosine)` : "";
      const was = before != null ? `, before the change ${before}` : "";
      box.title = `${where}${read}${was}; ${percent(part)} of the chosen place`;
      box.setAttribute("aria-label", box.title);
    });
    labels.forEach((label, row) => label.classList.toggle("bx-chosen", row === chosenRow));
  }

  // ---- The output, on the right, or below on a phone.

  function groups() {
    const answers = value.answers.filter((one) => one.row !== target.row || target.state === states() - 1);
    if (!answers.some((one) => one.row === target.row)) {
      const words = value.words?.[target.state]?.[target.row];
      if (words) answers.push({ row: target.row, title: target.state < states() - 1 ? `read after ${target.state ? `layer ${target.state}` : "the embeddings"}` : `${name(target.row)}, read at the end`, bars: words.map(([word, p]) => [word, p, null]) });
    }
    return answers.sort((a, b) => a.row - b.row);
  }

  function drawOutputs(shown) {
    const all = groups();
    const kept = new Map();
    let free = 4;
    const heights = all.map((one) => size.line + 3 + one.bars.length * size.line);
    const total = heights.reduce((sum, height) => sum + height + 10, 0);
    all.forEach((one, i) => {
      const key = kept.has(one.title) ? `${one.title} ${one.row}` : one.title;
      const group = outputs.get(key) ?? el("div", { class: "bx-flow-output", role: "group" });
      const rest = total - heights.slice(0, i).reduce((sum, height) => sum + height + 10, 0);
      const top = Math.max(free, Math.min(y(one.row) - heights[i] / 2, size.seen - rest));
      free = top + heights[i] + 10;
      const beside = `left:${(size.field - size.output + 18).toFixed(1)}px;width:${(size.output - 22).toFixed(1)}px;top:${top.toFixed(1)}px;`;
      group.style.cssText = `${size.under ? "" : beside}--hue:${hue(one.row)}`;
      group.setAttribute("aria-label", one.title);
      group.classList.toggle("bx-later", shown < states() - 1);
      const bars = one.bars.map(([word, p, was], n) => {
        const old = group.querySelectorAll("button")[n];
        const bar = old ?? el("button", { type: "button" }, el("i", {}), el("s", {}), el("span", {}, el("bdi", {}), el("em", {})));
        bar.dataset.row = one.row;
        bar.dataset.state = states() - 1;
        bar.firstChild.style.width = `${(100 * p).toFixed(2)}%`;
        bar.children[1].style.width = was == null ? "0" : `${(100 * was).toFixed(2)}%`;
        bar.children[1].hidden = was == null;
        bar.querySelector("bdi").textContent = word;
        bar.querySelector("em").textContent = ` ${percent(p)}${was == null ? "" : `, was ${percent(was)}`}`;
        return bar;
      });
      const title = group.querySelector("h3") ?? el("h3", {});
      title.textContent = one.title;
      arrange(group, [...group.children], [title, ...bars]);
      kept.set(key, group);
      const place = size.under ? below : field;
      if (group.parentElement !== place) place.append(group);
    });
    for (const [key, group] of outputs) if (!kept.has(key)) group.remove();
    outputs = kept;
  }

  // ---- One level deeper: a layer, or a route.

  function drawCard() {
    const focused = card?.contains(document.activeElement);
    const opens = !card;
    card?.remove();
    card = cardOf(value, alone());
    if (!card) return;
    const most = alone() ? "" : `;max-height:${Math.max(320, size.fold - 48)}px`; // it scrolls rather than the page
    if (value.inside) card.style.cssText = `left:${(x(value.inside.layer - 1) + size.box / 2 + 10).toFixed(1)}px;width:${(size.extra - 16).toFixed(1)}px${most}`;
    else {
      const { layer, query, key } = value.route;
      const left = Math.max(0, Math.min(x(layer - 1) + size.column / 2 - 140, size.field - 300));
      card.style.cssText = `left:${left.toFixed(1)}px;top:${(Math.max(y(query), y(key)) + size.row * 0.7).toFixed(1)}px;width:290px`;
    }
    field.append(card);
    if (value.route && card.offsetTop + card.offsetHeight > size.seen) { // above the line where there is more room
      const above = Math.min(y(value.route.query), y(value.route.key)) - size.row * 0.7 - card.offsetHeight;
      card.style.top = `${Math.max(0, above > 0 ? above : size.seen - card.offsetHeight)}px`;
    }
    sheet.style.height = `${Math.max(size.height, card.offsetTop + card.offsetHeight + 8)}px`;
    const free = document.activeElement === document.body; // a line takes no focus, and Escape closes what has it
    if (focused || (opens && (free || root.contains(document.activeElement)))) card.focus({ preventScroll: true });
  }

  // ---- The story: the picture in steps, one stop at a time.

  const SHOWS = ["tokens", "sum", "around", "think", "again", "guess", "pair"];

  function tell() {
    const text = stop < 0 ? value.said : value.stops[stop].text;
    if (said.textContent !== text) said.textContent = text; // read out only when it changes
    said.classList.toggle("bx-told", stop >= 0);
    note.textContent = value.said;
    const isTelling = story.classList.contains("bx-telling");
    if ((stop >= 0 || playing) && !isTelling) {
      story.classList.add("bx-telling"); // from now on its stops can be chosen
      place();
      drawOutputs(shownAt());
    }
    const isSmall = story.classList.contains("bx-telling") || root.closest("[data-presented]");
    player.textContent = playing ? "❚❚" : isSmall ? "▶" : "▶ step by step";
    player.setAttribute("aria-label", playing ? "Pause" : "Play, step by step");
    stops.forEach((one) => one.setAttribute("aria-pressed", String(Number(one.dataset.stop) === stop)));
    rove(stops, pressed()); // the playing stop can be reached by the Tab key, too
  }

  const pressed = () => (stop < 0 ? stops.length - 1 : stop);

  // The number of columns shown at a stop.
  function shownAt() {
    const last = states() - 1;
    if (stop < 0) return last;
    return { tokens: -1, sum: 0, around: 1, think: 1, again: last, guess: last, pair: last }[SHOWS[stop]] ?? last;
  }

  function go(to, focus = false) {
    stop = Math.max(-1, Math.min(value.stops.length - 1, to));
    const kind = SHOWS[stop];
    if (kind === "pair" && value.answers.some((one) => one.pair)) target = { state: states() - 1, row: 0 };
    else if (stop >= 0) target = { ...value.target };
    if ((kind === "around" || kind === "think") && states() > 1) target = { ...target, state: 1 };
    show();
    tell();
    if (focus) stops[pressed()].focus({ preventScroll: true });
    reveal(stops[0].parentElement, stops[pressed()]); // on a phone the stops are in one line
    if (kind === "again" && !still.matches) grow(1);
  }

  // Show one column after the other.
  function grow(state) {
    if (SHOWS[stop] !== "again" || state >= states()) return;
    show(state);
    setTimeout(() => grow(state + 1), 380);
  }

  function play(on) {
    clearInterval(playing);
    playing = 0;
    if (on) {
      go(stop < 0 || stop === value.stops.length - 1 ? 0 : stop + 1);
      playing = setInterval(() => (stop < value.stops.length - 1 && root.isConnected ? go(stop + 1) : play(false)), PAUSE);
    }
    tell();
  }

  // ---- Drawing all of it.

  function show(shown = shownAt()) {
    const { shares, routes } = trace(target);
    drawLines(routes, Math.min(shown, target.state));
    drawBoxes(shares, shown);
    drawOutputs(shown);
    root.dataset.stop = SHOWS[stop] ?? "all";
    rove(boxes, target.row * states() + target.state);
  }

  function draw() {
    value = plain(props.value || null);
    if (!value) {
      [frame, shape, before] = ["", "", []];
      return root.replaceChildren();
    }
    mixing = value.mixing && sharesFrom(bytes(value.mixing));
    const next = JSON.stringify([value.tokens, value.kinds, value.segments, value.states]);
    const same = next === shape;
    shape = next;
    const focused = boxes.indexOf(document.activeElement);
    if (!same) {
      clearInterval(playing);
      playing = 0;
      stop = -1;
      const needed = JSON.stringify([value.states, value.stops.length, alone() && value.layers.length]);
      if (needed !== frame) build();
      buildRows(needed === frame ? before : []);
      frame = needed;
      const { route } = value;
      if (route && before.length && [route.query, route.key].some((row) => before[row] !== value.tokens[row])) {
        value.route = null; // it was a route between other words
        ask({ close: true });
      }
      before = value.tokens;
    }
    const [state, row] = same ? chosen.settle([value.target.state, value.target.row], draw) : [value.target.state, value.target.row];
    target = { state, row };
    root.setAttribute("aria-label", value.alt);
    root.classList.toggle("bx-alone", alone() && !value.heads);
    place();
    show();
    tell();
    drawCard();
    if (focused >= 0 && !boxes.includes(document.activeElement)) boxes[Math.min(focused, boxes.length - 1)]?.focus({ preventScroll: true });
    if (!same) showEnd();
  }

  // On a phone: scroll to the end of the chosen row's route.
  function showEnd() {
    const scroll = sheet.parentElement;
    scroll.scrollLeft = Math.max(0, size.label + x(target.state) + size.column / 2 + size.output - scroll.clientWidth);
  }

  function choose(row, state) {
    if (value.elsewhere && row === rows() - 1) return;
    if (alone() && !mixing) return; // only this place is in the data
    if (alone() && row !== value.inside?.row) fold(0);
    clearInterval(playing);
    playing = 0;
    stop = -1;
    chosen.set([state, row]);
    target = { state, row };
    if (mixing) show();
    tell();
    trigger("select", { index: { state, token: value.places[row] }, value: value.tokens[row] });
  }

  // Unfold or fold a layer without the server. Its data is about the token that was chosen when the file was made.
  function fold(layer) {
    value.inside = value.layers[layer - 1] ?? null;
    value.route = null;
    if (value.inside && target.row !== value.inside.row) target = { ...value.target };
    place();
    show();
    drawCard();
  }

  // A route by its heads, without the server.
  function openRoute([layer, query, key]) {
    const { heads: packed } = value;
    const heads = packed && headsFor(mixing, (layer * rows() + query) * rows() + key, { ...packed, parts: bytes(packed.parts) });
    if (!heads) return;
    value.inside = null;
    value.route = { layer: layer + 1, query, key, share: share(layer, query, key), heads };
    place();
    show();
    drawCard();
  }

  const rowed = ({ layer, query, key }) => [layer, value.places[query], value.places[key]];
  function ask(index) {
    if (alone()) {
      if (index.route) openRoute(index.route);
      else if ("unfold" in index || index.close) fold(index.unfold ?? 0);
      return;
    }
    if (index.inside) {
      const [layer, head] = index.inside;
      host.page.wish({ layer, head, token: value.places[target.row] });
      return host.page.open("Inside a head");
    }
    if (index.route) index = { route: rowed({ layer: index.route[0] + 1, query: index.route[1], key: index.route[2] }) };
    if (index.cut) index = { cut: [...rowed({ layer: index.cut[0], query: index.cut[1], key: index.cut[2] }), index.cut[3]] };
    trigger("select", { index, value: "" });
  }

  root.addEventListener("click", ({ target: node }) => {
    const button = node.closest("button");
    const route = node.closest("[data-route]");
    if (route) return ask({ route: JSON.parse(route.dataset.route) });
    if (!button) return;
    if (button.classList.contains("bx-flow-play")) return play(!playing);
    if (button.dataset.stop) {
      play(false);
      return go(Number(button.dataset.stop), true);
    }
    if (button.dataset.act) return ask(JSON.parse(button.dataset.act));
    if (button.dataset.layer) return ask({ unfold: value.inside?.layer === Number(button.dataset.layer) ? 0 : Number(button.dataset.layer) });
    if (button.dataset.row) choose(Number(button.dataset.row), Number(button.dataset.state));
  });
  // The strip hides words; the same gestures do it here.
  function hide(node) {
    const row = node.closest("[data-row]")?.dataset.row;
    const chip = row && document.querySelectorAll("#strip .bx-token")[value.places[row]];
    chip?.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  }

  root.addEventListener("dblclick", (event) => hide(event.target));
  root.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "m" && !event.altKey && !event.ctrlKey && !event.metaKey) return hide(event.target);
    if (event.key === "Escape" && (value?.inside || value?.route)) {
      event.stopPropagation();
      return ask({ close: true });
    }
    const at = event.target.closest(".bx-flow-stops button");
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!at || !step || !moveOf(event)) return;
    event.preventDefault();
    play(false);
    go(stop + step < -1 ? value.stops.length - 1 : stop + step >= value.stops.length ? -1 : stop + step, true);
  });
  gridKeys(root, () => ({ columns: states(), buttons: boxes }), (index) => choose(Math.floor(index / states()), index % states()));
  function fit() {
    if (!value || !root.clientWidth) return;
    const unseen = !drawnFor;
    drawnFor = root.clientWidth;
    place();
    show();
    tell();
    drawCard();
    if (unseen) showEnd();
  }
  root.addEventListener("bx-restage", fit);
  addEventListener("resize", () => root.isConnected && fit()); // its rows are as high as the window lets them be
  new ResizeObserver(() => root.clientWidth !== drawnFor && fit()).observe(root);
  // What is above it got another line.
  const moved = new ResizeObserver(() => size.top !== undefined && Math.abs(topOf() - size.top) > 2 && fit());
  for (const one of [document.querySelector("gradio-app #bar"), root.closest(".view")]) if (one) moved.observe(one);
  return draw;
});
