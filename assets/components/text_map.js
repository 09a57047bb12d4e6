// Texts as points on a plane: class colours, regions or hulls, names without overlap, a star for a text that is tried, and a film.
import { hull, isInside, placeNames } from "../arithmetic/placing.js";
import { arrange, button, el, svg } from "../shared/dom.js";
import { besideWord, cloudOn, expand, movable, paintRegions, shorten, still } from "../shared/map_parts.js";
import { drawn } from "../shared/mounting.js";
import { css, onTheme, rgb } from "../shared/theme.js";

const FEW = 300; // points that are shapes; more are drawn by the graphics card
const NAMED = 60; // points that get a name
const LISTED = 300; // points in the list for screen readers
const BESIDE = 6; // texts near the pointer, where not all points are named
const AROUND = 80; // px: how near
const MARGIN = 26; // px around the points
const HIGH = 15; // px: a line of a name
const RADIUS = 6;
const NEAR = 18; // px from a point that is pointed at
const PAUSE = { film: 420, glide: 1100 }; // ms of a frame
const REST = 120; // ms without a move of the view
const QUIET = 350; // ms until the server hears of the frame that is shown
const BESIDE_MAP = 300; // px of a window that a tall map leaves to what is above and below it
const STAR = "M0-11l3.2 7.2 7.8.7-5.9 5.1 1.8 7.6L0 5.6l-6.9 4 1.8-7.6-5.9-5.1 7.8-.7z";
const pen = document.createElement("canvas").getContext("2d");

drawn("TextMap", ({ root, trigger, settings }) => {
  const legend = el("div", { class: "bx-map-legend", role: "group", "aria-label": "classes shown" });
  const layers = ["behind", "points", "names", "above"].map((name) => svg("g", { class: `bx-map-${name}` }));
  const [behind, dots, written, above] = layers;
  const drawing = svg("svg", { class: "bx-map-drawing", tabindex: "0", role: "img" }, ...layers);
  const canvas = el("canvas", { class: "bx-map-cloud", "aria-hidden": "true" });
  const stage = el("div", { class: "bx-map-stage" }, canvas, drawing);
  const said = el("p", { class: "bx-map-said", role: "status" });
  const list = el("ul", { class: "bx-map-list" });
  const hidden = new Set(); // classes that the legend hides
  let value = null;
  let nodes = new Map(); // point → its element
  let labels = new Map(); // what is named → its text
  let cloud = null; // of many points, once there were any
  let spots = []; // [x, y] of each point in px
  let pointer = null; // [x, y] of it in px
  let at = -1; // the point that is looked at
  let size = { width: 0, height: 0 };
  let film = "";
  let plane = null; // between the map's numbers and px, without the view
  let resting = 0;
  let bare = []; // places in px, without the view
  let [timer, telling, frame] = [0, 0, 0]; // of the film: its next step, what the server hears, the frame that is shown

  const play = el("button", { type: "button", class: "bx-map-play" });
  const scrub = el("input", { type: "range", min: "0", step: "1" });
  const trails = button("Trails", () => press(trails), { class: "bx-map-tool", title: "Draw the way of each point through the layers" });
  const bar = el("div", { class: "bx-map-film", role: "toolbar", "aria-label": "film" }, play, scrub, trails);
  const lassoing = button("Select", () => press(lassoing), { class: "bx-map-tool", title: "Draw a line around points (or drag with Shift)" });
  const zoomed = (by) => hand.zoom(by, [size.width / 2, size.height / 2]);
  const tools = el("span", { class: "bx-map-tools" }, settings.selects ? lassoing : "", button("+", () => zoomed(1.6), { class: "bx-map-tool", "aria-label": "Zoom in" }),
    button("−", () => zoomed(1 / 1.6), { class: "bx-map-tool", "aria-label": "Zoom out" }));
  const shape = svg("polygon", { class: "bx-map-lasso" });
  const hand = movable(drawing, { allowed: () => Boolean(value?.even) && !value.regions, selecting: () => settings.selects && isPressed(lassoing), moved: () => paint(true), lasso: lassoed });
  const colour = (k) => `var(--bx-series-${(k % 8) + 1})`;
  const isPressed = (tool) => tool.getAttribute("aria-pressed") === "true";
  const isFilm = () => value.frames.length > 0;
  const isMany = () => value.points.length > FEW;
  const isShown = ({ label, faint }) => !faint && !hidden.has(label);

  function press(tool) {
    tool.setAttribute("aria-pressed", String(!isPressed(tool)));
    paint();
  }

  // A name in parts: the word bold within its sentence, or the beginning of a text, longer where there is more room.
  function nameOf({ text, context: [before, after] }) {
    if (before || after) return [{ text: before }, { text, bold: true }, { text: after }];
    const room = (0.17 * size.width) / Math.sqrt(Math.min(NAMED, value.points.length));
    return [{ text: value.even ? shorten(text, Infinity, Math.max(18, room)) : shorten(text) }];
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
    const points = [...value.points.map(({ x, y }) => [x, y]), ...value.frames.flatMap(({ places }) => places ?? [])];
    if (value.star) points.push([value.star.x, value.star.y], ...value.star.pulls.map(({ x, y }) => [x, y]));
    if (value.regions || !points.length) points.push([0, 0]); // where the regions meet
    const ends = [0, 1].map((axis) => points.reduce(([low, high], point) => [Math.min(low, point[axis]), Math.max(high, point[axis])], [Infinity, -Infinity]));
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

  const seen = ([x, y]) => [hand.view.x + x * hand.view.k, hand.view.y + y * hand.view.k];
  const spotOf = ({ x, y }) => seen(plane.to([x, y]));
  const placesOf = (moment) => (isFilm() && value.frames[moment].places) || value.points.map(({ x, y }) => [x, y]);
  const isInView = ([x, y]) => x > 0 && y > 0 && x < size.width && y < size.height;

  let painted = { key: "" }; // the regions, which a film of the points does not change

  function regions() {
    const key = JSON.stringify([value.regions, size, plane.from([0, 0]), plane.from([1, 1]), css("--bx-series-1")]);
    if (key !== painted.key) painted = { key, node: value.regions && paintRegions(value, size, plane.from) };
    return painted.node;
  }

  const linked = (corners) => corners.map((corner) => corner.map((part) => part.toFixed(1)).join(",")).join(" ");

  function hulls() {
    return value.classes.slice(0, value.hulls).flatMap((_, k) => {
      const corners = hull(spots.filter((_spot, i) => value.points[i].label === k));
      return hidden.has(k) ? [] : [svg("polygon", { class: "bx-map-hull", points: linked(corners), style: `fill: ${colour(k)}; stroke: ${colour(k)}` })];
    });
  }

  // The way of each point through all frames.
  function ways() {
    if (!isPressed(trails) || !bar.contains(trails)) return [];
    return value.points.flatMap((point, i) => {
      const corners = linked(value.frames.map((_, moment) => seen(plane.to(placesOf(moment)[i]))));
      return isShown(point) ? [svg("polyline", { class: "bx-map-way", points: corners, style: `stroke: ${colour(point.label)}` })] : [];
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

  function drawShapes() {
    const next = new Map(isMany() ? [] : value.points.map(pointOf));
    arrange(dots, [...nodes.values()], [...next.values()]);
    [...next.values()].forEach((node, i) => move(node, spots[i]));
    nodes = next;
  }

  // Many points: their places without the view, in px, and their colours.
  function drawCloud() {
    canvas.hidden = !isMany();
    if (!isMany()) return;
    cloud ??= cloudOn(canvas);
    cloud.look(hand.view);
    const colours = value.classes.map((_, k) => rgb(css(`--bx-series-${(k % 8) + 1}`)).slice(0, 3));
    const wide = value.points.length > 3000 ? 6 : 8;
    const alpha = ({ label, faint }) => (hidden.has(label) ? 0 : faint ? 0.1 : 0.85);
    const edge = css("--bx-wrong");
    const points = value.points.map((point, i) => ({ place: bare[i], colour: `rgb(${colours[point.label].join(" ")} / ${alpha(point)})`,
      wide: point.ring ? wide + 3 : wide, ring: point.ring && !hidden.has(point.label) ? edge : "" }));
    const key = value.points.length + value.points.slice(0, 50).map(({ text }) => text).join("\n");
    cloud.show(points, key, size);
  }

  function starNodes() {
    if (!value.star) return [];
    const star = spotOf(value.star);
    const node = above.querySelector(".bx-map-star") ?? svg("g", { class: "bx-map-point bx-map-star" }, svg("path", { d: STAR }));
    move(node, star);
    return [...value.star.pulls.map(spotOf).flatMap((pull) =>
      [lineOf("bx-map-pull", pull, star), svg("circle", { class: "bx-map-pull", cx: pull[0], cy: pull[1], r: 2.5 })]), node];
  }

  // Lines belong to the frame for which they were computed.
  const shownLinks = () => (isFilm() && frame !== value.frame ? [] : value.links.filter(({ start, end }) => ![start, end].some((i) => hidden.has(value.points[i].label))));

  const lineOf = (kind, [x1, y1], [x2, y2]) => svg("line", { class: kind, x1, y1, x2, y2 });

  const middle = (numbers) => numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)];

  // Which of the points are named: those in view if they are few, or those near the pointer; then the classes are named too.
  function chosenRows() {
    const rows = [...value.points.keys()].filter((i) => isShown(value.points[i]) && isInView(spots[i]));
    if (!value.even || rows.length <= NAMED) return [rows.slice(0, NAMED), []];
    const far = (i) => (pointer ? Math.hypot(spots[i][0] - pointer[0], spots[i][1] - pointer[1]) : Infinity);
    const near = rows.filter((i) => far(i) < AROUND).sort((one, other) => far(one) - far(other)).slice(0, BESIDE);
    const groups = value.classes.length < 2 ? [] : value.classes.map((text, k) => ({ text, own: rows.filter((i) => value.points[i].label === k) }));
    return [value.picked === null ? near : [value.picked, ...value.links.map(({ end }) => end), ...near], groups.filter(({ own }) => own.length > 4)];
  }

  // The names that find a free place; the sentence that is tried, or the point that is picked, has the first choice.
  function drawNames() {
    const [rows, groups] = chosenRows();
    const linkedTo = new Set(value.picked === null ? [] : [value.picked, ...value.links.map(({ end }) => end)]);
    const rank = ({ text, context }, i) => Number(i === value.picked ? Infinity : linkedTo.has(i) ? 1e6 : context.join("") && text.length); // long words say more than "the"
    const all = [...new Set(rows)].map((i) => ({ key: i, parts: nameOf(value.points[i]), x: spots[i][0], y: spots[i][1], rank: rank(value.points[i], i) }));
    if (!groups.length) all.sort((one, other) => (one.rank === other.rank ? 0 : other.rank - one.rank));
    const named = (text, [x, y], kind, bold = false) => ({ key: `${kind} ${text} ${kind === "bx-map-far" ? [x, y] : ""}`, parts: [{ text, bold }], x, y, kind });
    const among = (rows, fn) => [0, 1].map((axis) => fn(rows.map((i) => spots[i][axis])));
    all.splice(linkedTo.size, 0, ...shownLinks().filter(({ text }) => text).map(({ start, end, text }) => named(text, among([start, end], ([one, other]) => (one + other) / 2), "bx-map-far")));
    all.push(...groups.map(({ text, own }) => named(text, among(own, middle), "bx-map-class", true)));
    if (value.star) all.unshift(named("your sentence", spotOf(value.star), "bx-own"), ...value.star.pulls.map((pull) => named(`without ${pull.word}`, spotOf(pull), "bx-map-pull-word")));
    const brief = all.map(({ parts }) => (parts.length > 1 ? besideWord(parts) : [{ text: shorten(parts[0].text, 2, 12) }]));
    const measured = all.map((one, i) => ({ ...one, width: widthOf(one.parts, one.kind === "bx-own" ? 1.1 : 1), short: value.even ? widthOf(brief[i]) : undefined }));
    const next = new Map(placeNames(measured, size, HIGH, isMany() ? 4 : RADIUS + 1).flatMap((place, i) => {
      if (!place) return [];
      const node = labels.get(all[i].key) ?? svg("text", {});
      node.setAttribute("class", `bx-map-name ${all[i].kind ?? ""}`);
      node.replaceChildren(...(place.short ? brief[i] : all[i].parts).map(({ text, bold }) => svg("tspan", { class: bold ? "bx-map-word" : "" }, text)));
      move(node, [place.x, place.y]);
      return [[all[i].key, node]];
    }));
    arrange(written, [...labels.values()], [...next.values()]);
    labels = next;
  }

  function drawLegend() {
    const ringed = value.points.some(({ ring }) => ring);
    const classes = value.classes.length > 1 ? value.classes : [];
    legend.replaceChildren(...classes.map((name, k) =>
      el("button", { type: "button", "aria-pressed": String(!hidden.has(k)), "data-class": k, style: `--bx-class: ${colour(k)}`, title: "Show or hide this class" }, el("i", {}), el("bdi", {}, name))),
    ...(ringed ? [el("span", { class: "bx-map-ringed" }, el("i", {}), value.ringed)] : []), value.even && !value.regions ? tools : "");
  }

  const sentenceOf = ({ text, label, note, context: [before, after] }) =>
    `${before}${text}${after}${value.classes.length > 1 ? ` — ${value.classes[label]}` : ""}${note ? ` · ${note}` : ""}`;

  function look(i) {
    at = i;
    [...nodes.values()].forEach((node, k) => node.classList.toggle("bx-here", k === i));
    said.textContent = i >= 0 ? sentenceOf(value.points[i]) : isFilm() ? value.frames[frame].text : "";
  }

  function measure() {
    const width = root.clientWidth;
    const high = settings.tall ? Math.max(settings.height - 60, Math.min(innerHeight - BESIDE_MAP, 1.1 * width)) : Math.min(settings.height, 0.72 * width);
    size = { width, height: Math.round(Math.max(240, settings.tall && width < 500 ? Math.min(high, 1.1 * width) : high)) };
    drawing.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    stage.style.height = `${size.height}px`;
  }

  // Draw everything, or after a move of the view what moves with it.
  function paint(moved = false) {
    if (!value || !root.clientWidth) return;
    clearTimeout(resting);
    drawing.classList.toggle("bx-going", moved && isMany());
    if (moved && isMany()) { // the points follow; what is written on them comes when they rest
      cloud.look(hand.view);
      resting = setTimeout(paint, REST);
      return;
    }
    if (!moved) {
      measure();
      plane = scale();
      bare = placesOf(frame).map(plane.to);
      drawCloud();
    }
    drawing.classList.toggle("bx-held", moved);
    drawing.setAttribute("aria-label", value.alt);
    drawing.style.touchAction = hand.view.k > 1 || isPressed(lassoing) ? "pinch-zoom" : "pan-y pinch-zoom";
    spots = bare.map(seen);
    behind.replaceChildren(...[regions(), ...hulls(), ...ways(), ...shownLinks().map(({ start, end }) => lineOf("bx-map-link", spots[start], spots[end]))].filter(Boolean));
    drawShapes();
    drawNames();
    const chosen = isMany() && value.picked !== null ? [svg("circle", { class: "bx-map-chosen", cx: spots[value.picked][0], cy: spots[value.picked][1], r: 8 })] : [];
    arrange(above, [...above.children], [...chosen, ...starNodes()]);
  }

  function lassoed(corners, done) {
    shape.setAttribute("points", linked(corners));
    if (!done) return void above.append(shape);
    shape.remove();
    const inside = value.points.flatMap((point, i) => (isShown(point) && isInside(corners, spots[i]) ? [point.index] : []));
    if (inside.length) trigger("lasso", { index: inside, value: `${inside.length} points` });
  }

  // Show what was searched for, as large as fits.
  function fit(rows) {
    const { to } = scale();
    const found = placesOf(frame).filter((_, i) => rows.has(i)).map(to);
    const [[left, right], [top, bottom]] = [0, 1].map((axis) => [Math.min(...found.map((place) => place[axis])), Math.max(...found.map((place) => place[axis]))]);
    const k = Math.min(8, Math.max(1, Math.min(size.width / (right - left + 160), size.height / (bottom - top + 120))));
    Object.assign(hand.view, k === 1 ? { x: 0, y: 0, k } : { x: size.width / 2 - (k * (left + right)) / 2, y: size.height / 2 - (k * (top + bottom)) / 2, k });
  }

  function follow(former) {
    const bright = (one) => new Set(one?.points.some(({ faint }) => faint) ? [...one.points.keys()].filter((i) => !one.points[i].faint) : []);
    const [rows, before] = [bright(value), bright(former)];
    if ([...rows].join() === [...before].join()) return;
    if (!value.fits || !rows.size) return former?.fits ? hand.back() : undefined;
    fit(rows);
  }

  // ---- The film, or the layers.

  function show(i) {
    frame = i;
    scrub.value = String(i);
    scrub.setAttribute("aria-valuetext", value.frames[i].text);
    drawing.classList.toggle("bx-moving", !value.glides && i < value.frames.length - 1);
    paint();
    look(-1);
    clearTimeout(telling);
    if (value.glides && i !== value.frame) telling = setTimeout(() => timer || trigger("frame", { index: i, value: value.frames[i].text }), QUIET);
  }

  function run(going) {
    clearTimeout(timer);
    timer = going && bar.isConnected && !still.matches ? setTimeout(() => step(frame + 1), value.glides ? PAUSE.glide : PAUSE.film) : 0;
    play.textContent = timer ? "❚❚" : value?.glides ? "▶ Play" : "▶";
    play.setAttribute("aria-label", timer ? "Pause" : "Play");
    play.hidden = still.matches || Boolean(value?.frames.some(({ places }) => !places));
  }

  function step(i) {
    run(i < value.frames.length - 1);
    show(i);
  }

  play.addEventListener("click", () => (timer ? run(false) : step(frame < value.frames.length - 1 ? frame : 0)));
  scrub.addEventListener("input", () => {
    run(false);
    show(Number(scrub.value));
  });

  // Begin a film that is new; one that goes on stays where it is, unless it waits for nothing.
  function cue(next) {
    const last = value.frames.length - 1;
    const isNew = next !== film;
    film = next;
    scrub.max = String(last);
    scrub.setAttribute("aria-label", value.glides ? "Hidden state" : "moment of the film");
    trails.hidden = !value.glides || isMany();
    if (!isNew && (timer || telling)) return;
    run(false);
    frame = Math.min(last, value.frame ?? last);
    scrub.value = String(frame);
    if (!isNew || !value.plays) return;
    drawing.scrollIntoView({ block: "center" });
    step(0);
  }

  function draw(raw) {
    const former = value;
    value = expand(raw);
    root.hidden = !value && !settings.missing;
    if (!value) {
      run(false);
      arrange(dots, [...nodes.values()], []);
      nodes = new Map();
      return root.replaceChildren(el("p", { class: "bx-map-empty" }, settings.missing));
    }
    if (!root.contains(stage)) root.replaceChildren(legend, stage, said, list);
    if (isFilm() && !bar.isConnected) stage.after(bar);
    if (!isFilm()) bar.remove();
    if (former?.classes.join("\n") !== value.classes.join("\n")) hidden.clear();
    if (telling && value.frame === frame) telling = clearTimeout(telling) ?? 0;
    if (isFilm()) cue(JSON.stringify(raw.frames));
    else [film, frame] = ["", 0], run(false), drawing.classList.remove("bx-moving");
    if (root.clientWidth) measure(), follow(former);
    drawLegend();
    paint();
    list.replaceChildren(...value.points.slice(0, LISTED).map((point) => el("li", {}, sentenceOf(point))));
    look(value.picked ?? -1);
  }

  // ---- Pointer and keys.

  function nearest([x, y], most, allowed = () => true) {
    let [found, least] = [-1, most];
    spots.forEach(([px, py], i) => {
      const far = Math.hypot(px - x, py - y);
      if (far < least && !hidden.has(value.points[i].label) && allowed(px - x, py - y, i)) [found, least] = [i, far];
    });
    return found;
  }

  drawing.addEventListener("pointermove", (event) => {
    pointer = hand.spot(event);
    const found = nearest(pointer, NEAR);
    if (found !== at) look(found);
    if (value.even && value.points.length > NAMED && !event.buttons) drawNames();
  });
  drawing.addEventListener("pointerleave", () => {
    pointer = null;
    look(value?.picked ?? -1);
  });
  drawing.addEventListener("click", (event) => {
    const found = hand.clicked() ? nearest(hand.spot(event), NEAR) : -1;
    if (found >= 0) choose(found);
  });
  drawing.addEventListener("dblclick", () => hand.back());
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
    const filter = target.closest("[data-class]");
    if (!filter) return;
    const k = Number(filter.dataset.class);
    if (!hidden.delete(k)) hidden.add(k);
    drawLegend();
    paint();
    legend.querySelector(`[data-class="${k}"]`).focus();
  });
  new ResizeObserver(() => root.clientWidth !== size.width && paint()).observe(root);
  if (settings.tall) addEventListener("resize", () => root.isConnected && paint());
  onTheme(() => value && (drawLegend(), paint()), root);
  return draw;
});
