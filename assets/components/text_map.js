// Texts as points on a plane: class colours, regions or hulls, names without overlap, a star for a text that is tried, and a film.
import { hull, placeNames, regionAt } from "../arithmetic/placing.js";
import { el, plain, svg } from "../shared/dom.js";
import { define } from "../shared/mounting.js";
import { css, onTheme, rgb } from "../shared/theme.js";

const NAMED = 60; // points that get a name
const LISTED = 300; // points in the list for screen readers
const WORDS = 3; // of a text in its name
const LETTERS = 24;
const MARGIN = 26; // px around the points
const HIGH = 15; // px: a line of a name
const RADIUS = 6;
const NEAR = 18; // px from a point that is pointed at
const FINE = 4; // px: a cell of the regions
const PAUSE = 420; // ms of a film's frame
const STAR = "M0-11l3.2 7.2 7.8.7-5.9 5.1 1.8 7.6L0 5.6l-6.9 4 1.8-7.6-5.9-5.1 7.8-.7z";
const still = matchMedia("(prefers-reduced-motion: reduce)");
const pen = document.createElement("canvas").getContext("2d");

define("TextMap", ({ element, trigger, props, settings }) => {
  const root = element.querySelector(".bx-text-map");
  const legend = el("div", { class: "bx-map-legend", role: "group", "aria-label": "classes shown" });
  const drawing = svg("svg", { class: "bx-map-drawing", tabindex: "0", role: "img" });
  const said = el("p", { class: "bx-map-said", role: "status" });
  const names = el("ul", { class: "bx-map-list" });
  const hidden = new Set(); // classes that the legend hides
  let value = null;
  let nodes = new Map(); // point → its element
  let spots = []; // [x, y] of each point in px
  let at = -1; // the point that is looked at
  let size = { width: 0, height: 0 };
  let film = "";

  const play = el("button", { type: "button", class: "bx-map-play" });
  const scrub = el("input", { type: "range", min: "0", step: "1", "aria-label": "moment of the film" });
  const bar = el("div", { class: "bx-map-film", role: "toolbar", "aria-label": "film" }, play, scrub);
  let timer = 0;
  const colour = (k) => `var(--bx-series-${(k % 8) + 1})`;

  function shortened(text, words = WORDS, letters = LETTERS) {
    const first = text.split(/\s+/).slice(0, words).join(" ").slice(0, letters);
    return first === text ? text : `${first.replace(/[.,;:!?\s]+$/, "")}…`;
  }

  // A name in parts: the word bold within its sentence, or the beginning of a text, longer where there is more room.
  function nameOf({ text, context: [before, after] }) {
    if (before || after) return [{ text: before }, { text, bold: true }, { text: after }];
    return [{ text: value.even ? shortened(text, Infinity, Math.max(18, (0.17 * size.width) / Math.sqrt(value.points.length))) : shortened(text) }];
  }

  function widthOf(parts, scale = 1) {
    const { fontFamily } = getComputedStyle(root);
    return scale * parts.reduce((sum, { text, bold }) => {
      pen.font = `${bold ? 700 : 400} 13px ${fontFamily}`;
      return sum + pen.measureText(text).width;
    }, 0);
  }

  // From the plane to px: all that is ever drawn is inside.
  function scale() {
    const points = [...value.points.map(({ x, y }) => [x, y]), ...value.frames.flatMap(({ places }) => places)];
    if (value.star) points.push([value.star.x, value.star.y], ...value.star.pulls.map(({ x, y }) => [x, y]));
    if (value.regions || !points.length) points.push([0, 0]); // where the regions meet
    const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
    const ends = [xs, ys].map((all) => [Math.min(...all), Math.max(...all)]);
    for (const end of ends) if (end[1] - end[0] < 1e-6) end[0] -= 1, end[1] += 1;
    const [[left, right], [low, high]] = ends;
    const wide = [(size.width - 2 * MARGIN) / (right - left), (size.height - 2 * MARGIN) / (high - low)];
    const [across, up] = value.even ? [Math.min(...wide), Math.min(...wide)] : wide;
    const [x0, y0] = [(size.width - across * (right - left)) / 2, (size.height + up * (high - low)) / 2]; // of (left, low)
    return {
      to: ([x, y]) => [x0 + (x - left) * across, y0 - (y - low) * up],
      from: ([x, y]) => [left + (x - x0) / across, low + (y0 - y) / up],
    };
  }

  function regions({ from }) {
    if (!value.regions) return null;
    const [wide, high] = [Math.ceil(size.width / FINE), Math.ceil(size.height / FINE)];
    const canvas = el("canvas", { width: wide, height: high });
    const image = canvas.getContext("2d").createImageData(wide, high);
    const colours = value.classes.map((_, k) => rgb(css(`--bx-series-${(k % 8) + 1}`)));
    const even = 1 / value.classes.length;
    for (let row = 0; row < high; row++) {
      for (let column = 0; column < wide; column++) {
        const [best, share] = regionAt(value.regions, ...from([(column + 0.5) * FINE, (row + 0.5) * FINE]));
        image.data.set([...colours[best].slice(0, 3), 255 * (0.07 + 0.24 * (share - even) / (1 - even))], 4 * (row * wide + column));
      }
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    return svg("image", { href: canvas.toDataURL(), x: 0, y: 0, width: wide * FINE, height: high * FINE, preserveAspectRatio: "none" });
  }

  function hulls() {
    if (!value.hulls) return [];
    return value.classes.map((_, k) => {
      const corners = hull(spots.filter((_spot, i) => value.points[i].label === k));
      return svg("polygon", { class: "bx-map-hull", points: corners.map((corner) => corner.join(",")).join(" "), style: `fill: ${colour(k)}; stroke: ${colour(k)}` });
    });
  }

  function pointOf({ text, label, ring, faint }, i) {
    const again = value.points.slice(0, i).filter((other) => other.text === text && other.label === label).length;
    const key = JSON.stringify([text, label, again]);
    const node = nodes.get(key) ?? svg("g", { class: "bx-map-point" }, svg("circle", { r: RADIUS }));
    node.classList.toggle("bx-ring", ring);
    node.classList.toggle("bx-dim", faint || hidden.has(label));
    node.classList.toggle("bx-picked", i === value.picked);
    node.style.setProperty("--bx-class", colour(label));
    return [key, node];
  }

  const move = (node, [x, y]) => (node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`);

  function starNodes({ to }) {
    if (!value.star) return [];
    const { x, y, pulls } = value.star;
    const [sx, sy] = to([x, y]);
    const lines = pulls.flatMap((pull) => {
      const [px, py] = to([pull.x, pull.y]);
      return [svg("line", { class: "bx-map-pull", x1: px, y1: py, x2: sx, y2: sy }), svg("circle", { class: "bx-map-pull", cx: px, cy: py, r: 2.5 })];
    });
    const star = [...nodes.values()].find((node) => node.classList.contains("bx-map-star"));
    const node = star ?? svg("g", { class: "bx-map-point bx-map-star" }, svg("path", { d: STAR }));
    move(node, [sx, sy]);
    return [...lines, node];
  }

  const shownLinks = () => value.links.filter(({ start, end }) => ![start, end].some((i) => hidden.has(value.points[i].label)));

  function linkNodes() {
    return shownLinks().map(({ start, end }) => svg("line", { class: "bx-map-link", x1: spots[start][0], y1: spots[start][1], x2: spots[end][0], y2: spots[end][1] }));
  }

  // The names that find a free place; the sentence that is tried, or the point that is picked, has the first choice.
  function nameNodes(plane) {
    const linked = new Set(value.picked === null ? [] : [value.picked, ...value.links.map(({ end }) => end)]);
    const rank = ({ text, context }, i) => (linked.has(i) ? Infinity : context.join("") && text.length); // long words say more than "the"
    const named = value.points.map((point, i) => ({ parts: nameOf(point), x: spots[i][0], y: spots[i][1], rank: Number(rank(point, i)), dim: point.faint || hidden.has(point.label) }));
    const all = named.slice(0, NAMED).sort((one, other) => (one.rank === other.rank ? 0 : other.rank - one.rank));
    const between = shownLinks().filter(({ text }) => text).map(({ start, end, text }) => {
      const [x, y] = [0, 1].map((axis) => (spots[start][axis] + spots[end][axis]) / 2);
      return { parts: [{ text }], x, y, kind: "bx-map-far" };
    });
    all.splice(linked.size, 0, ...between);
    if (value.star) {
      const [x, y] = plane.to([value.star.x, value.star.y]);
      const words = value.star.pulls.map((pull) => ({ parts: [{ text: `without ${pull.word}` }], spot: plane.to([pull.x, pull.y]), kind: "bx-map-pull-word" }));
      all.unshift({ parts: [{ text: "your sentence" }], x, y, kind: "bx-own" }, ...words.map(({ spot: [px, py], ...word }) => ({ ...word, x: px, y: py })));
    }
    const shown = all.filter(({ dim }) => !dim);
    const brief = shown.map(({ parts }) => (parts.length > 1 ? [parts[1]] : [{ text: shortened(parts[0].text, 2, 12) }]));
    const measured = shown.map((one, i) => ({ ...one, width: widthOf(one.parts, one.kind === "bx-own" ? 1.1 : 1), short: value.even ? widthOf(brief[i]) : undefined }));
    return placeNames(measured, size, HIGH, RADIUS + 1).flatMap((place, i) => {
      if (!place) return [];
      const parts = (place.short ? brief[i] : shown[i].parts).map(({ text, bold }) => svg("tspan", { class: bold ? "bx-map-word" : "" }, text));
      return [svg("text", { class: `bx-map-name ${shown[i].kind ?? ""}`, x: place.x, y: place.y }, ...parts)];
    });
  }

  function drawLegend() {
    const ringed = value.points.some(({ ring }) => ring);
    const classes = value.classes.length > 1 ? value.classes : [];
    legend.replaceChildren(...classes.map((name, k) =>
      el("button", { type: "button", "aria-pressed": String(!hidden.has(k)), "data-class": k, style: `--bx-class: ${colour(k)}`, title: "Show or hide this class" }, el("i", {}), el("bdi", {}, name))),
    ...(ringed ? [el("span", { class: "bx-map-ringed" }, el("i", {}), value.ringed)] : []));
  }

  function drawList() {
    names.replaceChildren(...value.points.slice(0, LISTED).map((point) => el("li", {}, sentenceOf(point))));
  }

  const sentenceOf = ({ text, label, note, context: [before, after] }) =>
    `${before}${text}${after}${value.classes.length > 1 ? ` — ${value.classes[label]}` : ""}${note ? ` · ${note}` : ""}`;

  function look(i) {
    at = i;
    for (const node of drawing.querySelectorAll(".bx-here")) node.classList.remove("bx-here");
    if (i >= 0) [...nodes.values()][i]?.classList.add("bx-here");
    if (!bar.isConnected) said.textContent = i < 0 ? "" : sentenceOf(value.points[i]);
  }

  function paint() {
    const width = root.clientWidth;
    if (!value || !width) return;
    size = { width, height: Math.min(settings.height, Math.max(240, Math.round(0.72 * width))) };
    drawing.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    drawing.style.height = `${size.height}px`;
    drawing.setAttribute("aria-label", value.alt);
    const plane = scale();
    spots = value.points.map(({ x, y }) => plane.to([x, y]));
    const next = new Map(value.points.map(pointOf));
    [...next.values()].forEach((node, i) => move(node, spots[i]));
    const star = starNodes(plane);
    nodes = next;
    drawing.replaceChildren(...[regions(plane), ...hulls(), ...linkNodes(), ...next.values(), ...nameNodes(plane), ...star].filter(Boolean));
    if (star.length) nodes.set("star", star.at(-1));
    drawLegend();
    drawList();
    look(value.picked ?? -1);
  }

  function showFrame(i) {
    if (!value?.frames.length || !size.width) return;
    const { to } = scale();
    const frame = value.frames[i];
    [...nodes.values()].slice(0, frame.places.length).forEach((node, p) => move(node, to(frame.places[p])));
    drawing.classList.toggle("bx-moving", i < value.frames.length - 1);
    said.textContent = frame.text;
  }

  function run(going) {
    clearTimeout(timer);
    timer = going && bar.isConnected && !still.matches ? setTimeout(() => step(Number(scrub.value) + 1), PAUSE) : 0;
    play.textContent = timer ? "❚❚" : "▶";
    play.setAttribute("aria-label", timer ? "Pause" : "Play");
    play.hidden = still.matches;
  }

  function step(i) {
    scrub.value = String(i);
    showFrame(i);
    run(i < value.frames.length - 1);
  }

  play.addEventListener("click", () => (timer ? run(false) : step(Number(scrub.value) < value.frames.length - 1 ? Number(scrub.value) : 0)));
  scrub.addEventListener("input", () => {
    run(false);
    showFrame(Number(scrub.value));
  });

  function draw() {
    value = plain(props.value || null);
    root.hidden = !value && !settings.missing;
    if (!value) {
      run(false);
      nodes = new Map();
      return root.replaceChildren(el("p", { class: "bx-map-empty" }, settings.missing));
    }
    if (!root.contains(drawing)) root.replaceChildren(legend, drawing, said, names);
    const moving = value.frames.length > 0;
    if (moving && !bar.isConnected) drawing.after(bar);
    if (!moving) bar.remove();
    drawing.classList.remove("bx-moving");
    paint();
    const next = moving ? JSON.stringify(value.frames) : "";
    if (next !== film) {
      film = next;
      run(false);
      if (!moving) return;
      scrub.max = String(value.frames.length - 1);
      scrub.value = scrub.max;
      if (!value.plays) return showFrame(value.frames.length - 1);
      drawing.scrollIntoView({ block: "center" });
      step(0);
    }
  }

  function nearest([x, y], most, allowed = () => true) {
    let [found, least] = [-1, most];
    spots.forEach(([px, py], i) => {
      const far = Math.hypot(px - x, py - y);
      if (far < least && !hidden.has(value.points[i].label) && allowed(px - x, py - y, i)) [found, least] = [i, far];
    });
    return found;
  }

  const spot = ({ clientX, clientY }) => {
    const box = drawing.getBoundingClientRect();
    return [clientX - box.left, clientY - box.top];
  };
  drawing.addEventListener("pointermove", (event) => {
    const found = nearest(spot(event), NEAR);
    if (found !== at) look(found);
  });
  drawing.addEventListener("pointerleave", () => look(value?.picked ?? -1));
  drawing.addEventListener("click", (event) => {
    const found = nearest(spot(event), NEAR);
    if (found >= 0) choose(found);
  });
  const choose = (i) => trigger("select", { index: value.points[i].index, value: value.points[i].text });
  const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  drawing.addEventListener("keydown", (event) => {
    const way = DIRECTIONS[event.key];
    if (event.key === "Enter" && at >= 0) choose(at);
    if (!way || !spots.length) return;
    event.preventDefault();
    event.stopPropagation();
    if (at < 0) return look(nearest([size.width / 2, size.height / 2], Infinity));
    const along = (dx, dy, i) => i !== at && dx * way[0] + dy * way[1] > Math.abs(dx * way[1] + dy * way[0]);
    const found = nearest(spots[at], Infinity, along);
    if (found >= 0) look(found);
  });
  legend.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    const k = Number(button.dataset.class);
    if (!hidden.delete(k)) hidden.add(k);
    paint();
    legend.querySelector(`[data-class="${k}"]`).focus();
  });
  new ResizeObserver(() => root.clientWidth !== size.width && paint()).observe(root);
  onTheme(paint, root);
  return draw;
});
