// A Plotly figure that keeps zoom and camera, follows theme and size, and sends clicks to Python.
import { plain } from "../shared/dom.js";
import { define, withheld } from "../shared/mounting.js";
import { plotly } from "../shared/plotly.js";
import { css, onTheme, rampStops } from "../shared/theme.js";
import * as linked from "./linked.js";
import * as shared from "./long_input.js";
import { figureWindow } from "./plotly_window.js";

const FRAME = 100; // ms to wait for a frame, which a hidden page has none of
let before = Promise.resolve(); // the last drawing, and the frame after it

// One drawing a frame: the first picture is seen before the next is drawn.
function inTurn(drawing) {
  const turn = before.then(drawing);
  before = turn.catch(() => {}).then(() => new Promise((seen) => {
    requestAnimationFrame(() => setTimeout(seen));
    setTimeout(seen, FRAME);
  }));
  return turn;
}

define("PlotlyChart", ({ element, trigger, props, settings }) => {
  const box = element.querySelector(".bx-chart");
  const touched = matchMedia("(pointer: coarse)").matches;
  const UNUSED = ["toImage", "sendChartToCloud", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d",
    "tableRotation", "resetCameraLastSave3d", "hoverClosestCartesian", "hoverCompareCartesian", "hoverClosest3d"];
  const NARROW = 480; // px: below this width, a figure's meta.narrow overrides its layout
  const OPTIONS = { // the same object each time: with others Plotly starts over, and loses zoom and camera
    _baseUrl: "", // otherwise colour bars refer to the page's address, and disappear when it changes
    displaylogo: false,
    displayModeBar: touched && innerWidth < NARROW ? false : "hover", // on a phone it would always be there, on the legend
    plotlyServerURL: "",
    modeBarButtonsToRemove: touched ? [...UNUSED, "zoom2d", "pan2d", "resetScale2d"] : UNUSED,
  };
  const LEAST = 120; // px: a narrower box, such as a window being minimised, is not drawn
  const visible = () => box.clientWidth >= LEAST;
  const PRESENTED = { wide: 22, narrow: 16 }; // px: font size when presented, readable from the last row, or on a phone
  const USUAL = innerWidth < 1600 || box.closest(".bx-paper") ? 12 : 14; // px: font size otherwise
  const AROUND = { presented: 190, usual: 143 }; // px: space above and below a matrix's rows
  const READABLE = 10; // px: the smallest readable font
  const ABOVE = 264; // px of the page above a chart that begins at its usual place
  const LOW = 280; // px: charts that are not higher keep their height
  const SCREEN = 800; // px: on a higher one, charts grow with it
  let figure = null; // the parsed figure
  let long = null; // its window, for a long input,
  let ranges = {}; // the range of places drawn,
  let overview = null; // and the overview of all of it
  const overviewFor = shared.overviewOf(box, () => long && redraw());
  let stale = true;
  let drawing = false;

  // Its height in the page: a chart ends on the first screen, and grows with a large one.
  function height() {
    const own = settings.height;
    if (innerWidth <= 640 || own <= LOW || box.closest(".bx-paper")) return own;
    return Math.round(Math.max(LOW, Math.min(own * Math.max(1, innerHeight / SCREEN), innerHeight - ABOVE)));
  }

  const isTelling = ({ name }) => name?.endsWith("telling");

  // The page's style, as defaults that a figure can override; text colour and font always follow the page.
  function inPageStyle(layout) {
    const line = css("--border-color-primary");
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, tickcolor: line };
    const wall = { ...axis, backgroundcolor: "rgba(0,0,0,0)" };
    const font = { color: css("--body-text-color"), family: getComputedStyle(box).fontFamily };
    const own = layout.template ?? {};
    const [none, narrow] = ["rgba(0,0,0,0)", box.clientWidth < NARROW ? layout.meta?.narrow ?? {} : {}];
    const look = {
      xaxis: axis,
      yaxis: axis,
      scene: { xaxis: wall, yaxis: wall, zaxis: wall },
      hoverlabel: { bgcolor: css("--background-fill-primary"), bordercolor: line, font },
      modebar: { bgcolor: none, color: css("--body-text-color-subdued"), activecolor: css("--color-accent") },
    };
    const styled = {
      ...layout,
      ...Object.fromEntries(Object.entries(narrow).map(([name, part]) => [name, { ...layout[name], ...part }])),
      ...{ width: undefined, height: undefined, autosize: true, paper_bgcolor: none, plot_bgcolor: none },
      template: { ...own, layout: { ...look, ...own.layout } },
      font: { size: USUAL, ...layout.font, ...font },
    };
    if (withheld.telling) styled.shapes = layout.shapes?.filter((one) => !isTelling(one));
    if (touched && !layout.scene) styled.dragmode = false; // a finger on a picture scrolls the page
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) delete styled.transition;
    if (layout.coloraxis && layout.meta?.ramp === "sequential") styled.coloraxis = { ...layout.coloraxis, colorscale: rampStops(), autocolorscale: false, reversescale: false };
    return styled;
  }

  // Colours given by meaning, `var(--bx-positive)`, resolved for the current theme.
  function coloured(value, isColour = false) {
    if (typeof value === "string") return isColour ? value.replace(/^var\((--[\w-]+)\)$/, (_, name) => css(name)) : value;
    if (!value || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
    if (Array.isArray(value)) return isColour ? value.map((one) => coloured(one, true)) : value.map((one) => coloured(one));
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, name === "ticktext" ? dotted(one) : coloured(one, /color(scale)?$/.test(name))]));
  }

  // The colours of the dots before labels.
  const dotted = (labels) => (Array.isArray(labels) ? labels.map((label) => String(label).replace(/^(<span style="color:)var\((--bx-series-\d)\)/, (_, start, name) => start + css(name))) : labels);

  // Enlarge the type for the last row, with the room that it takes.
  function enlarge(styled) {
    const size = innerWidth > 640 ? PRESENTED.wide : PRESENTED.narrow;
    styled.font = { ...styled.font, size };
    styled.hoverlabel = { ...styled.hoverlabel, font: { ...styled.hoverlabel?.font, size } };
    for (const name of Object.keys(styled).filter((key) => /^[xy]axis\d*$/.test(key))) styled[name] = { ...styled[name], automargin: true };
    return size;
  }

  // Label every row and column of a matrix if that is readable, in type smaller than `size` if needed.
  function labelEvery(styled, [first], size, around) {
    const rows = first?.type === "heatmap" && Array.isArray(first.y) && styled.yaxis?.type === "category" ? first.y.length : 0;
    const room = Math.floor((box.clientHeight - around) / rows) - 1; // px of a label
    if (!rows || room >= size || room < READABLE) return;
    for (const name of ["xaxis", "yaxis"]) styled[name] = { ...styled[name], tickmode: "linear", tick0: 0, dtick: 1, tickfont: { size: room } };
  }

  function clicked({ points: [point] }) {
    const list = (value) => (ArrayBuffer.isView(value) ? Array.from(value) : value ?? null);
    const index = list(point.pointNumber ?? point.pointIndex ?? 0);
    const { x = null, y = null, curveNumber: trace, customdata } = point;
    trigger("select", { index: long ? long.whole(index, ranges) : index, value: point.z ?? point.text ?? y, x, y, customdata: list(customdata), trace });
  }

  // Take a new value.
  function draw() {
    figure = null;
    if (settings.hides_empty) box.hidden = !props.value;
    return redraw();
  }

  // Draw the current value; a value that comes meanwhile is drawn afterwards. In a box without size, Plotly reduces the
  // margins, and does not restore them.
  async function redraw() {
    stale = true;
    if (visible()) box.dataset.drawing = "yes";
    if (drawing || !visible()) return; // the ResizeObserver draws it when it is shown
    drawing = true;
    try {
      const Plotly = await plotly();
      while (stale && visible()) await inTurn(() => visible() && drawOnce(Plotly));
    } finally {
      drawing = false;
      delete box.dataset.drawing;
    }
    refit();
  }

  // Fit the box, which may have changed while Plotly was drawing.
  async function refit() {
    if (!visible()) return;
    if (stale) return redraw();
    const drawn = box._fullLayout;
    if (!drawn || drawing) return;
    if ((box.clientWidth < NARROW) !== (drawn.width < NARROW)) return draw();
    if (Math.abs(box.clientWidth - drawn.width) > 1 || Math.abs(box.clientHeight - drawn.height) > 1) (await plotly()).Plots.resize(box);
  }

  // The overview of a long figure beside the chart; both fill the chart's place.
  function arrange() {
    const look = long?.look((overview ? box.parentElement : box).clientWidth, height());
    overview = overviewFor(look?.class ?? "", look && `${look.height}px`);
    box.style.height = long ? "" : `${height()}px`;
  }

  // The description, on the drawing only: the buttons beside it must stay buttons.
  function tell(words) {
    const [drawing, ...more] = box.querySelectorAll("svg.main-svg");
    for (const svg of more) svg.ariaHidden = "true";
    Object.assign(drawing, { role: "img", ariaLabel: words || settings.label || "chart" });
  }

  async function drawOnce(Plotly) {
    stale = false;
    const { value } = props;
    const fresh = !figure;
    if (fresh) {
      figure = value && typeof value === "string" ? JSON.parse(value) : plain(value);
      long = figureWindow(figure);
    }
    arrange();
    if (!figure) return Plotly.purge(box);
    let layout = coloured(inPageStyle(figure.layout ?? {}));
    let { data = [] } = figure;
    if (long) {
      if (fresh) overview.draw(long.axes, long.painted(layout));
      if (fresh) overview.point(long.telling);
      ranges = overview.ranges();
      ({ data, layout } = long.shown(layout, ranges, box.clientWidth, box.clientWidth < NARROW));
    }
    if (box.closest("[data-presented]")) labelEvery(layout, data, enlarge(layout), AROUND.presented);
    else if (innerWidth > 640) labelEvery(layout, data, USUAL, AROUND.usual);
    const first = !box._fullLayout;
    await Plotly.react(box, coloured(data), layout, OPTIONS);
    tell(layout.meta?.alt);
    if (first) box.on("plotly_click", clicked);
    if (first) linked.chart(box);
    box.dataset.drawn = 1 + Number(box.dataset.drawn ?? 0);
  }

  box.style.height = `${height()}px`;
  addEventListener("resize", () => long || (box.style.height = `${height()}px`));
  if (settings.label) box.setAttribute("aria-label", settings.label);
  new ResizeObserver(refit).observe(box);
  onTheme(draw, box);
  document.addEventListener("bert:withheld", () => figure?.layout?.shapes?.some(isTelling) && draw());
  box.addEventListener("bx-restage", draw);
  return draw;
});
