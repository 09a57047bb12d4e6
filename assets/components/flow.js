// The whole model in one picture: a row a token, a column a hidden state, and the routes that end in a chosen place.
BertExplorer.define("Flow", ({ element, trigger, props }) => {
  const { el, svg, rove, reveal, gridKeys } = BertExplorer;
  const root = element.querySelector(".bx-flow");
  const LEAST = 0.004; // routes with a smaller share of the chosen place are not drawn
  const MOST = 220; // routes drawn at once
  const HEAD = 46; // px of the titles above the rows
  const ROW = { least: 15, most: 29 }; // px
  const PAUSE = 4200; // ms at each stop of the story
  const UNFOLDED = 336; // px: width of an unfolded layer
  const HEADS = 6; // heads listed one by one
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const percent = (share) => {
    if (share > 0 && share < 0.0005) return "<0.1 %";
    if (share >= 0.9995 && share < 1) return ">99.9 %";
    return `${share >= 0.0995 || share === 0 ? Math.round(100 * share) : (100 * share).toFixed(1)} %`;
  };

  let value = null;
  let mixing = null; // [layers * rows * rows] shares, if the browser can compute the routes
  let frame = ""; // what the nodes that are not rows were made for
  let shape = ""; // what the rows were made for
  let before = []; // the tokens of the last drawing
  let target = { state: 0, row: 0 };
  const chosen = BertExplorer.choice();
  let boxes = []; // row by row, one for each hidden state
  let labels = [];
  let titles = [];
  let lines = new Map(); // the drawn routes, by layer, query and key
  let outputs = new Map(); // the groups of bars, by what they show
  let sheet, field, cells, edges, hits, names, card, story, said, player;
  let stops = []; // the story's buttons; the last one shows the whole picture
  let size = {}; // lengths in px
  let drawnFor = 0; // px: width at the last drawing, 0 before the first
  let stop = -1; // the story's current stop, -1 for the whole picture
  let playing = 0;

  const states = () => value.states;
  const alone = () => Array.isArray(value.layers); // in a file or a notebook: only the value's own data is available
  const rows = () => value.tokens.length;
  // Each head's part of a route where there is no server: they are packed in the order of the shares that are large enough.
  function headsAlone(layer, query, key) {
    const { heads, least, largest, parts } = value.heads ?? {};
    const at = (layer * rows() + query) * rows() + key;
    if (!heads || mixing[at] < least) return null;
    const before = mixing.subarray(0, at).reduce((count, one) => count + (one >= least), 0);
    const packed = new Int16Array(BertExplorer.bytes(parts).buffer, 2 * heads * before, heads);
    return Array.from(packed, (part, head) => ({ head: head + 1, share: (part * largest) / 32767, key: null }));
  }

  const share = (layer, query, key) => mixing[(layer * rows() + query) * rows() + key];

  // ---- Layout.

  function measure() {
    const width = root.clientWidth || 960;
    const stage = root.closest("[data-presented]"); // presented: enlarged, with the full height
    const phone = width < 640;
    const label = stage ? 64 : phone ? 78 : 96;
    const output = stage ? 150 : phone ? 190 : Math.min(240, Math.max(190, width * (states() > 9 ? 0.15 : 0.19)));
    const extra = value.inside ? Math.min(UNFOLDED, width - label) : 0;
    const fits = (width - label - output - extra) / states();
    const column = Math.max(extra || stage ? 58 : 66, Math.min(150, fits));
    const room = (stage ? stage.clientHeight / (root.currentCSSZoom ?? 1) - story.offsetHeight - 24 : innerHeight * 0.62) - HEAD;
    const row = Math.max(phone ? 22 : ROW.least, Math.min(ROW.most, room / rows()));
    size = { label, output, extra, column, row, box: Math.min(100, column * (column < 92 ? 0.82 : 0.68)), height: HEAD + rows() * row + 8 };
    size.field = states() * column + extra + output;
    const fold = innerHeight - (sheet.getBoundingClientRect().top + scrollY) - 8;
    size.seen = Math.min(size.height, Math.max(fold, 240)); // answers must not start below the first screen
  }

  const x = (state) => (state + 0.5) * size.column + (value.inside && state >= value.inside.layer ? size.extra : 0);
  const y = (row) => HEAD + (row + 0.5) * size.row;
  const hue = (row) => `var(--bx-flow-${value.elsewhere && row === rows() - 1 ? "special" : value.kinds[row] === "mask" ? "blank" : value.kinds[row] === "special" ? "special" : value.segments[row] ? "b" : "a"})`;

  // ---- The routes that end in a place: rows of the mixing matrices, multiplied backwards.

  function trace({ state, row }) {
    if (!mixing) return { shares: value.shares, routes: value.routes };
    const shares = [];
    let now = new Float64Array(rows());
    now[row] = 1;
    shares[state] = now;
    const routes = [];
    for (let layer = state - 1; layer >= 0; layer--) {
      const below = new Float64Array(rows());
      for (let query = 0; query < rows(); query++) {
        if (now[query] < 1e-6) continue;
        for (let key = 0; key < rows(); key++) {
          const part = now[query] * share(layer, query, key);
          below[key] += part;
          if (part > LEAST) routes.push([layer, query, key, part]);
        }
      }
      shares[layer] = now = below;
    }
    return { shares, routes };
  }

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
    root.replaceChildren(story, scroll);
    card = null;
  }

  // The earlier row that each row continues, -1 for none: an edit keeps the rows before and behind it, and a word that replaces
  // another has its row.
  function continued(before) {
    const now = value.tokens;
    const most = Math.min(now.length, before.length);
    let head = 0;
    while (head < most && now[head] === before[head]) head += 1;
    let tail = 0;
    while (tail < most - head && now.at(-1 - tail) === before.at(-1 - tail)) tail += 1;
    return now.map((_, row) => {
      if (row >= now.length - tail) return row - now.length + before.length;
      return row < before.length - tail ? row : -1;
    });
  }

  // The rows, out of the nodes of those that they continue, so that everything glides to its new place.
  function buildRows(before) {
    const from = continued(before);
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

  // Make `nodes` the children of a box. Those that stay are not moved: a node that is moved starts over.
  function arrange(box, old, nodes) {
    const stay = new Set(nodes);
    for (const node of old) if (!stay.has(node)) node.remove();
    let next = box.firstChild;
    for (const node of nodes) {
      if (node === next) next = next.nextSibling;
      else box.insertBefore(node, next);
    }
    return nodes;
  }

  function place() {
    measure();
    const px = (number) => `${number.toFixed(1)}px`;
    root.style.setProperty("--row", px(size.row));
    root.style.setProperty("--letters", `${Math.max(9.5, Math.min(13, size.row * 0.6, size.column * 0.165)).toFixed(1)}px`);
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

  // ---- The output, on the right.

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
    const heights = all.map((one) => 24 + one.bars.length * 21);
    const total = heights.reduce((sum, height) => sum + height + 10, 0);
    all.forEach((one, i) => {
      const key = kept.has(one.title) ? `${one.title} ${one.row}` : one.title;
      const group = outputs.get(key) ?? el("div", { class: "bx-flow-output", role: "group" });
      const rest = total - heights.slice(0, i).reduce((sum, height) => sum + height + 10, 0);
      const top = Math.max(free, Math.min(y(one.row) - heights[i] / 2, size.seen - rest));
      free = top + heights[i] + 10;
      group.style.cssText = `left:${(size.field - size.output + 18).toFixed(1)}px;width:${(size.output - 22).toFixed(1)}px;top:${top.toFixed(1)}px;--hue:${hue(one.row)}`;
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
      if (!group.isConnected) field.append(group);
    });
    for (const [key, group] of outputs) if (!kept.has(key)) group.remove();
    outputs = kept;
  }

  // ---- One level deeper: a layer, or a route.

  const bar = (part, top) => el("i", { style: `width:${(100 * Math.min(1, Math.abs(part) / (top || 1))).toFixed(1)}%`, class: part < 0 ? "bx-against" : null });
  const act = (text, index, more = {}) => el("button", { type: "button", "data-act": JSON.stringify(index), ...more }, text);

  const signed = (part) => `${part < 0 ? "−" : ""}${percent(Math.abs(part))}`;

  // The heads that add or remove most, and the sum of the remaining heads.
  function headsOf(list, layer, route) {
    const sorted = [...list].sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
    const others = sorted.slice(HEADS);
    const rest = others.reduce((sum, one) => sum + one.share, 0);
    const cells = ({ head, share: part, key }) => [el("span", {}, `head ${head}`), el("span", { class: "bx-flow-track" }, bar(part, Math.abs(sorted[0].share))),
      el("span", {}, `${signed(part)}${key == null ? "" : `, from ${name(key)}`}`)];
    return [
      ...sorted.slice(0, HEADS).map((one) => alone() ? el("div", { class: "bx-flow-of-head" }, ...cells(one)) :
        el("details", { name: "bx-flow-head" },
          el("summary", { "data-head": `${layer}.${one.head}` }, ...cells(one)),
          el("p", {}, window.BertPage && act("inside this head →", { inside: [layer, one.head] }), act("switch it off", { off: [layer, one.head] }),
            route ? act("cut it here", { cut: [layer, ...route, one.head] }) : null))),
      others.length ? el("p", {}, `the other ${others.length}: ${signed(rest)}`) : null,
    ];
  }

  function layerCard({ layer, row, kept, heads, takes, neurons, why, guess, moved }) {
    const top = Math.max(...(neurons ?? []).map((one) => Math.abs(one.effect)), 1e-9);
    const parts = [
      el("header", {}, el("b", {}, `Layer ${layer}, for ${name(row)}`), act("✕", { close: true }, { "aria-label": "Fold the layer" })),
      el("h3", {}, "1 · look around"),
      el("p", {}, `It keeps ${percent(kept)} of itself and takes most from: `, ...takes.flatMap(([key, part]) => {
        const told = `${value.tokens[key]} ${percent(part)}`;
        return [alone() ? el("span", {}, told) : act(told, { route: [layer - 1, row, key] }), " "];
      })),
      ...headsOf(heads, layer, null),
      el("h3", {}, "2 · add & norm"),
      el("p", {}, "What the heads bring is added to what was there, and brought back to a common scale."),
      el("h3", {}, "3 · think"),
      el("p", {}, why || (neurons?.length ? `The neurons that move the final guess here, “${guess}”, most: what it would lose without each alone.` : "The feed-forward part works on this token by itself.")),
      ...(neurons ?? []).map(({ neuron, effect, words }) => el("div", { class: "bx-flow-neuron" }, el("span", {}, `neuron ${neuron}`), el("span", { class: "bx-flow-track" }, bar(effect, top)),
        el("span", {}, `${effect > 0 ? "+" : "−"}${percent(Math.abs(effect))}`), el("small", {}, words.length ? `promotes ${words.join(", ")}` : ""))),
      el("h3", {}, "4 · add & norm"),
      el("p", {}, `The layer has turned its vector by ${moved.toFixed(2)} (1 − cosine, 0 to 2).`),
    ];
    return el("div", { class: "bx-flow-card bx-flow-layer", role: "region", tabindex: "-1", "aria-label": `inside layer ${layer}` }, ...parts);
  }

  function routeCard({ layer, query, key, share: part, heads, cut }) {
    const own = query === key;
    const title = own ? `Layer ${layer}: ${name(query)} keeps ${percent(part)} of itself` : `Layer ${layer}: ${name(query)} takes ${percent(part)} from ${name(key)}`;
    return el("div", { class: "bx-flow-card bx-flow-route", role: "region", tabindex: "-1", "aria-label": title },
      el("header", {}, el("b", {}, title), act("✕", { close: true }, { "aria-label": "Close" })),
      own || alone() ? null : el("p", {}, act(cut ? "put it back" : "✂ cut this route", { cut: [layer, query, key, 0] })),
      el("h3", {}, "by its heads"), ...headsOf(heads, layer, own ? null : [query, key]));
  }

  function drawCard() {
    const focused = card?.contains(document.activeElement);
    const opens = !card;
    card?.remove();
    card = value.inside ? layerCard(value.inside) : value.route ? routeCard(value.route) : null;
    if (!card) return;
    if (value.inside) card.style.cssText = `left:${(x(value.inside.layer - 1) + size.box / 2 + 10).toFixed(1)}px;width:${(size.extra - 16).toFixed(1)}px`;
    else {
      const { layer, query, key } = value.route;
      const left = Math.max(0, Math.min(x(layer - 1) + size.column / 2 - 140, size.field - 300));
      card.style.cssText = `left:${left.toFixed(1)}px;top:${(Math.max(y(query), y(key)) + size.row * 0.7).toFixed(1)}px;width:290px`;
    }
    field.append(card);
    sheet.style.height = `${Math.max(size.height, card.offsetTop + card.offsetHeight + 8)}px`;
    if (focused || (opens && root.contains(document.activeElement))) card.focus({ preventScroll: true });
  }

  // ---- The story: the picture in steps, one stop at a time.

  const SHOWS = ["tokens", "sum", "around", "think", "again", "guess", "pair"];

  function tell() {
    const text = stop < 0 ? value.said : value.stops[stop].text;
    if (said.textContent !== text) said.textContent = text; // read out only when it changes
    said.classList.toggle("bx-told", stop >= 0);
    if (stop >= 0 || playing) story.classList.add("bx-telling"); // from now on its stops can be chosen
    player.textContent = playing ? "❚❚" : story.classList.contains("bx-telling") ? "▶" : "▶ step by step";
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
    value = BertExplorer.plain(props.value || null);
    if (!value) {
      [frame, shape, before] = ["", "", []];
      return root.replaceChildren();
    }
    mixing = value.mixing && Float32Array.from(new Uint16Array(BertExplorer.bytes(value.mixing).buffer), (one) => one / 65535);
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
    const heads = headsAlone(layer, query, key);
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
      BertPage.wish = { ...BertPage.wish, layer, head, token: value.places[target.row] };
      return BertPage.open("Inside a head");
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
    if (!at || !step || !BertExplorer.moveOf(event)) return;
    event.preventDefault();
    play(false);
    go(stop + step < -1 ? value.stops.length - 1 : stop + step >= value.stops.length ? -1 : stop + step, true);
  });
  gridKeys(root, () => ({ columns: states(), buttons: boxes }), (index) => choose(Math.floor(index / states()), index % states()));
  new ResizeObserver(() => {
    if (!value || !root.clientWidth || root.clientWidth === drawnFor) return;
    const unseen = !drawnFor;
    drawnFor = root.clientWidth;
    place();
    show();
    drawCard();
    if (unseen) showEnd();
  }).observe(root);
  return draw;
});
