// A Plotly figure of a long input, cut to the window: what is drawn is a small, ordinary figure.
import { unpack } from "../arithmetic/binary.js";
import { decoded, encoded, shortened } from "../arithmetic/labels.js";
import { el } from "../shared/dom.js";
import { css, rampTable } from "../shared/theme.js";
import * as shared from "./long_input.js";

const LABEL = { size: 12, wide: 88, narrow: 76 }; // px: the font size of labels, and the most width that they get
const BESIDE = 580; // px: below this width, the overview stands above the picture
const ROW = 15; // px: a row with its label
const pen = el("canvas").getContext("2d");

const isList = (value) => Array.isArray(value) || ArrayBuffer.isView(value);

// A trace with `change(value, name)` for each of its values, and for the colours of its marks.
const each = (trace, change) => ({
  ...Object.fromEntries(Object.entries(trace).map(([name, value]) => [name, change(value, name)])),
  ...(trace.marker ? { marker: { ...trace.marker, color: change(trace.marker.color, "color") } } : {}),
});

// The part of a trace's values in the window, along the axes that have one.
function cut(value, name, { x, y }, ofMatrix) {
  if (!isList(value) || (ofMatrix && name === "y" && !y)) return value; // the y of a matrix names its rows, not its columns
  const part = (list, range) => (range ? list.slice(range.first, range.last) : list);
  if (name === "y" && y) return part(value, y);
  if (isList(value[0])) return part(value, y).map((row) => part(row, x));
  return name === "y" && !x ? value : part(value, x);
}

// Labels that fit, and the width of the longest of all, so that nothing shifts while the window moves.
function labels(all, room) {
  pen.font = `${LABEL.size}px ${css("--font")}`;
  const wide = (text) => pen.measureText(text).width;
  const short = all.map((label) => shortened(decoded(label), room, wide));
  return { short: short.map(encoded), width: Math.ceil(Math.max(...short.map(wide))) };
}

// Shapes and annotations in the window's coordinates; those outside are left out.
function inside(list, ranges) {
  return (list ?? []).map((one) => {
    const now = { ...one };
    for (const [axis, { first, last }] of Object.entries(ranges)) {
      if (![undefined, axis].includes(one[`${axis}ref`])) continue;
      for (const name of [axis, `${axis}0`, `${axis}1`]) {
        if (typeof one[name] === "number") now[name] = Math.max(-0.5, Math.min(last - first - 0.5, one[name] - first)); // what is outside lies on the edge
      }
      const empty = now[`${axis}0`] !== undefined && now[`${axis}0`] === now[`${axis}1`];
      const gone = one[axis] !== undefined && (one[axis] < first - 0.5 || one[axis] > last - 0.5);
      if (empty || gone) return null;
    }
    return now;
  }).filter(Boolean);
}

// The figure with a window over it, or null if it is drawn whole.
export function figureWindow(figure) {
  const axes = figure?.layout?.meta?.window;
  if (!axes) return null;
  const data = figure.data.map((trace) => each(trace, unpack));
  const [first] = data;
  const known = {};

  function axis(name, { first: from, last }, width, narrow) {
    const key = `${name} ${narrow}`;
    known[key] ??= labels(Array.from(first[name]), narrow ? LABEL.narrow : LABEL.wide);
    const { short, width: longest } = known[key];
    const turned = name === "x" && (width - 200) / (last - from) < longest + 8;
    const ticks = { tickmode: "array", tickvals: Array.from(first[name].slice(from, last)), ticktext: short.slice(from, last) };
    return { room: name === "x" && !turned ? 16 : longest, ticks: { ...ticks, automargin: false, ...(name === "x" ? { tickangle: turned ? 90 : 0 } : {}) } };
  }

  // The layout and traces for a box of this width, with the places in `ranges`.
  function shown(layout, ranges, width, narrow) {
    const now = { ...layout, margin: { ...layout.margin }, shapes: inside(layout.shapes, ranges), annotations: inside(layout.annotations, ranges) };
    for (const name of Object.keys(ranges)) {
      const { room, ticks } = axis(name, ranges[name], width, narrow);
      now[`${name}axis`] = { ...layout[`${name}axis`], ...ticks };
      now.margin[name === "x" ? "b" : "l"] = room + (layout[`${name}axis`]?.title?.text ? 36 : 12);
    }
    return { data: data.map((trace) => each(trace, (value, name) => cut(value, name, ranges, Boolean(trace.z)))), layout: now };
  }

  // How to paint the overview, in the colours of the drawn layout.
  function painted(layout) {
    if (!first.z) {
      const top = Math.max(...Array.from(first.y, Math.abs)) || 1;
      return shared.paintMatrix({ rows: 1, columns: first.y.length, level: (_, bar) => (255 * Math.abs(first.y[bar])) / top, table: rampTable() });
    }
    const { cmin = 0, cmax = 1, colorscale } = layout.coloraxis ?? {};
    const scale = 255 / (cmax - cmin || 1);
    const rows = layout.yaxis?.autorange === "reversed" ? first.z : [...first.z].reverse(); // as they are drawn, from the top
    return shared.paintMatrix({ rows: rows.length, columns: rows[0].length, level: (row, column) => (rows[row][column] - cmin) * scale,
      table: shared.colours(colorscale), calm: layout.meta?.ramp ? 0 : 127.5 });
  }

  const cell = figure.layout.shapes?.find((one) => one.name === "telling");
  const telling = cell && { x: cell.x0 + 0.5, y: cell.y0 + 0.5 };

  const rows = axes.y ? shared.size() * ROW + 100 : 0; // px for the rows of a window and what is below them
  const name = Object.keys(axes).sort().join("");

  // The size with the overview, for a page of this width: at least `height`.
  function look(width, height) {
    const stacked = name === "xy" && width < BESIDE;
    return { class: `bx-windowed bx-over-${name}${stacked ? " bx-stacked" : ""}`, height: Math.max(height, rows + (stacked ? 150 : 0)) };
  }

  // The index in the whole figure of a point, or [row, column] of a cell, in the window.
  const whole = (index, { x, y }) => (Array.isArray(index) ? [index[0] + (y?.first ?? 0), index[1] + (x?.first ?? 0)] : index + (x?.first ?? 0));

  return { axes, telling, look, shown, painted, whole };
}
