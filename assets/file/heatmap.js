// A matrix as a light picture of our own: a file that shows nothing else needs no Plotly.
import { inCss } from "../arithmetic/colour.js";
import { decoded, shortened } from "../arithmetic/labels.js";
import { formatted, thinned } from "../arithmetic/numbers.js";
import * as shared from "../components/long_input.js";
import { figureWindow, unpacked } from "../components/plotly_window.js";
import { el, svg } from "../shared/dom.js";
import { define } from "../shared/mounting.js";
import { css, onTheme, rampTable } from "../shared/theme.js";

define("Heatmap", ({ element, trigger, props, settings }) => {
  const MOST_RECTS = 64 * 64; // cells that are drawn as shapes; more of them are one small image
  const LABEL = { size: 12, most: 110 }; // px
  const box = element.querySelector(".bx-chart");
  const tip = el("div", { class: "bx-tip", hidden: "" });
  const pen = el("canvas").getContext("2d");
  let figure = null;
  let long = null;
  let overview = null;
  let drawn = null; // what is pointed at is read from it

  const resolved = (colour) => colour.replace(/^var\((--[\w-]+)\)$/, (_, name) => css(name));
  const wide = (text) => pen.measureText(text).width;
  const titled = (of) => (typeof of?.title === "string" ? of.title : of?.title?.text) ?? "";

  // 256 colours from the lowest to the highest.
  function table(layout) {
    if (layout.meta?.ramp === "sequential") return rampTable();
    return shared.colours(layout.coloraxis.colorscale.map(([at, colour]) => [at, resolved(colour)]));
  }

  // Places along an axis: their names, which of them are written, and where a number of the figure lies.
  function axisOf(name, trace, layout, count) {
    const given = trace[name] ? Array.from(trace[name]) : Array.from({ length: count }, (_, i) => i);
    const axis = layout[`${name}axis`] ?? {};
    const words = typeof given[0] === "string";
    const step = !words && count > 1 ? given[1] - given[0] : 1;
    const at = (value) => (typeof value === "string" ? given.indexOf(value) : words ? value : (value - given[0]) / step);
    const labels = given.map((one) => (words ? decoded(one) : String(+Number(one).toPrecision(6))));
    const ticks = Array.isArray(axis.tickvals)
      ? axis.tickvals.map((value, i) => [at(value), decoded(axis.ticktext?.[i] ?? value)])
      : labels.map((label, i) => [i, label]);
    return { labels, ticks, at, title: decoded(titled(axis)), down: name === "y" && axis.autorange === "reversed" };
  }

  function bar({ coloraxis = {} }, colours, x, top, height) {
    const { cmin = 0, cmax = 1, colorbar = {} } = coloraxis;
    const values = colorbar.tickvals ?? Array.from({ length: 5 }, (_, i) => cmin + ((cmax - cmin) * i) / 4);
    const texts = colorbar.ticktext ?? values.map((value) => String(+value.toPrecision(2)));
    const place = (value) => top + height * (1 - (value - cmin) / (cmax - cmin || 1));
    const steps = Array.from({ length: 64 }, (_, i) => svg("rect", { x, y: (top + (height * i) / 64).toFixed(2), width: 10,
      height: (height / 64 + 0.5).toFixed(2), fill: inCss(colours[Math.round(255 - (255 * i) / 63)]) }));
    const numbers = Array.from(values, (value, i) => svg("text", { x: x + 15, y: place(value) + 4 }, String(texts[i])));
    const middle = top + height / 2;
    const title = svg("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(${x + 58} ${middle}) rotate(90)` }, decoded(titled(colorbar)));
    return [...steps, ...numbers, title];
  }

  // The cells as one small image, which is enlarged without being smoothed.
  function image(cells, colours, down) {
    const canvas = el("canvas", { width: cells[0].length, height: cells.length });
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(canvas.width, canvas.height);
    cells.forEach((row, r) => row.forEach((level, c) => {
      const line = down ? r : cells.length - 1 - r;
      pixels.data.set(level == null ? [0, 0, 0, 0] : [...colours[level], 255], 4 * (line * canvas.width + c));
    }));
    context.putImageData(pixels, 0, 0);
    return canvas.toDataURL();
  }

  function shapes(layout, x, y, toX, toY) {
    return (layout.shapes ?? []).filter(({ type }) => type === "rect").map(({ x0, x1, y0, y1, line }) => {
      const [left, right] = [x0, x1].map((value) => toX(x.at(value) + 0.5)).sort((a, b) => a - b);
      const [top, bottom] = [y0, y1].map((value) => toY(y.at(value) + 0.5)).sort((a, b) => a - b);
      return svg("rect", { x: left, y: top, width: right - left, height: bottom - top, fill: "none", stroke: resolved(line.color), "stroke-width": line.width });
    });
  }

  function paint(trace, layout) {
    const [width, height] = [box.clientWidth, box.clientHeight];
    if (width < 80 || height < 80) return;
    pen.font = `${LABEL.size}px ${css("--font")}`;
    const z = trace.z.map((row) => Array.from(row));
    const [rows, columns] = [z.length, z[0].length];
    const [x, y] = [axisOf("x", trace, layout, columns), axisOf("y", trace, layout, rows)];
    const colours = table(layout);
    const { cmin = 0, cmax = 1 } = layout.coloraxis ?? {};
    const level = (value) => (value == null || Number.isNaN(value) ? null : Math.round(255 * Math.min(1, Math.max(0, (value - cmin) / (cmax - cmin || 1)))));
    const cells = z.map((row) => row.map(level));
    const room = Math.max(LABEL.most, 0.28 * width); // of the longest name of a row
    const left = Math.max(24, ...y.ticks.map(([, text]) => Math.min(room, wide(text)))) + (y.title ? 30 : 10);
    const inner = width - left - 78;
    const longest = Math.max(...x.ticks.map(([, text]) => Math.min(LABEL.most, wide(text))));
    const turned = longest + 8 > inner / Math.min(columns, 24);
    const below = (turned ? longest + 10 : 20) + (x.title ? 24 : 4);
    const high = height - 10 - below;
    const toX = (place) => left + (inner * place) / columns;
    const toY = (place) => 10 + (high * (y.down ? place : rows - place)) / rows;
    const gap = Math.min(trace.xgap ?? 0, 2);
    const area = { x: left, y: 10, width: inner, height: high };
    const squares = rows * columns <= MOST_RECTS
      ? cells.flatMap((row, r) => row.map((at, c) => at == null ? null : svg("rect", { x: toX(c).toFixed(2), y: Math.min(toY(r), toY(r + 1)).toFixed(2),
          width: (inner / columns - gap + (gap ? 0 : 0.4)).toFixed(2), height: (high / rows - gap + (gap ? 0 : 0.4)).toFixed(2), fill: inCss(colours[at]) })))
      : [svg("image", { ...area, href: image(cells, colours, y.down), preserveAspectRatio: "none", style: "image-rendering:pixelated" })];
    const across = thinned(x.ticks, inner, turned ? 13 : longest + 8).map(([at, text]) => turned
      ? svg("text", { transform: `translate(${toX(at + 0.5) + 4} ${10 + high + 8}) rotate(-90)`, "text-anchor": "end" }, shortened(text, LABEL.most, wide))
      : svg("text", { x: toX(at + 0.5), y: 10 + high + 16, "text-anchor": "middle" }, shortened(text, LABEL.most, wide)));
    const down = thinned(y.ticks, high, 13).map(([at, text]) => svg("text", { x: left - 6, y: toY(at + 0.5) + 4, "text-anchor": "end" }, shortened(text, room, wide)));
    const titles = [
      x.title ? svg("text", { x: left + inner / 2, y: height - 6, "text-anchor": "middle" }, x.title) : null,
      y.title ? svg("text", { transform: `translate(14 ${10 + high / 2}) rotate(-90)`, "text-anchor": "middle" }, y.title) : null,
    ];
    const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": layout.meta?.alt ?? settings.label,
      fill: css("--body-text-color"), "font-size": LABEL.size, "font-family": css("--font") },
      svg("g", {}, ...squares), ...shapes(layout, x, y, toX, toY), ...across, ...down, ...titles, ...bar(layout, colours, left + inner + 12, 10, Math.max(60, high)));
    box.replaceChildren(picture, tip);
    drawn = { trace, layout, z, x, y, rows, columns, left, inner, high };
  }

  // ---- What is pointed at.

  function written(value, format) {
    return typeof value === "number" ? formatted(value, format) : decoded(value ?? "");
  }

  // One byte a cell on the scale that is shown: about what it stands for.
  function about(value) {
    const { ticktext = [], title } = drawn.layout.coloraxis.colorbar ?? {};
    const share = value / drawn.layout.coloraxis.cmax;
    const top = Number(ticktext.at(-1));
    return Number.isNaN(top) ? "" : `${titled({ title }).replace(" (√ scale)", "")} about ${(top * (titled({ title }).includes("√") ? share ** 2 : share)).toPrecision(2)}`;
  }

  function words(row, column) {
    const { trace, z, x, y } = drawn;
    const values = { x: x.labels[column], y: y.labels[row], z: z[row][column], customdata: trace.customdata?.[row]?.[column], text: trace.text?.[row]?.[column] };
    const lines = (trace.hovertemplate ?? "%{y}, %{x}: %{z}").replace(/<extra>.*/, "").split("<br>");
    const told = lines.map((line) => line.startsWith("click for") ? about(values.z)
      : line.replace(/%\{(\w+)(?::([^}]+))?\}/g, (_, name, format) => written(values[name], format)));
    return told.join("\n");
  }

  // The cell at a place of the page, [row, column] of what is drawn; null beside it.
  function cellAt(event) {
    const { rows, columns, left, inner, high, y } = drawn;
    const at = box.getBoundingClientRect();
    const column = Math.floor(((event.clientX - at.left - left) / inner) * columns);
    const line = Math.floor(((event.clientY - at.top - 10) / high) * rows);
    return column < 0 || column >= columns || line < 0 || line >= rows ? null : [y.down ? line : rows - 1 - line, column];
  }

  box.addEventListener("pointermove", (event) => {
    const cell = drawn && cellAt(event);
    tip.hidden = !cell;
    if (!cell) return;
    const at = box.getBoundingClientRect();
    tip.textContent = words(...cell);
    tip.style.left = `${Math.min(event.clientX - at.left + 14, at.width - tip.offsetWidth - 4)}px`;
    tip.style.top = `${Math.min(event.clientY - at.top + 14, at.height - tip.offsetHeight - 4)}px`;
  });
  box.addEventListener("click", (event) => {
    const cell = drawn && cellAt(event);
    if (cell) trigger("select", { index: long ? long.whole(cell, overview.ranges()) : cell, value: drawn.z[cell[0]][cell[1]], customdata: null });
  });
  box.addEventListener("pointerleave", () => (tip.hidden = true));

  // ---- The window over a long one, with its overview, as in the app.

  function arrange() {
    if (!long) return;
    if (!overview) {
      overview = shared.overview();
      const both = el("div", {}, overview.root);
      box.replaceWith(both);
      both.append(box);
      shared.follow(redraw, box);
    }
    const both = box.parentElement;
    const look = long.look(both.clientWidth, settings.height);
    both.className = look.class;
    both.style.height = `${look.height}px`;
    box.style.height = "auto";
  }

  function redraw() {
    if (!figure) return;
    const { layout } = figure;
    arrange();
    if (!long) return paint(unpacked(figure.data[0]), layout);
    overview.draw(long.axes, long.painted({ ...layout, coloraxis: { ...layout.coloraxis, colorscale: table(layout).map((colour, i) => [i / 255, inCss(colour)]) } }));
    overview.point(long.telling);
    const { data, layout: now } = long.shown(layout, overview.ranges(), box.clientWidth, false);
    paint(data[0], now);
  }

  function draw() {
    figure = props.value;
    long = figure && figureWindow(figure);
    redraw();
  }

  box.style.height = `${settings.height}px`;
  new ResizeObserver(redraw).observe(box);
  onTheme(redraw, box);
  return draw;
});
