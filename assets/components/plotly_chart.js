// A Plotly figure that keeps zoom and camera, follows the theme and its box, and tells Python what was clicked.
BertExplorer.define("PlotlyChart", ({ element, trigger, props, settings }) => {
  const { el, css, rampStops } = BertExplorer;
  const box = element.querySelector(".bx-chart");
  const UNUSED = ["toImage", "sendChartToCloud", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d",
    "tableRotation", "resetCameraLastSave3d", "hoverClosestCartesian", "hoverCompareCartesian", "hoverClosest3d"];
  const NARROW = 480; // px: below, what a figure has in meta.narrow goes before its layout
  const LEAST = 120; // px: what is narrower, such as a window on its way to the dock, is not meant to be looked at
  const touched = matchMedia("(pointer: coarse)").matches;
  const visible = () => box.clientWidth >= LEAST;
  const PRESENTED = { wide: 22, narrow: 16 }; // px: type that is read from the last row, or on a phone
  const USUAL = 12; // px: type otherwise
  const AROUND = { presented: 190, usual: 143 }; // px of what stands above and below the rows of a matrix
  const READABLE = 10; // px of letters that can be read
  let figure = null; // what there is to draw, once it was read
  let long = null; // the window over it, if it is long,
  let ranges = {}; // the places that are drawn of it,
  let overview = null; // and the picture of all of it
  let options = null;
  let stale = true;
  let drawing = false;

  // The page's look, as defaults that a figure can overrule; text colour and font always follow the page.
  function inPageStyle(layout) {
    const line = css("--border-color-primary");
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, tickcolor: line };
    const wall = { ...axis, backgroundcolor: "rgba(0,0,0,0)" };
    const font = { color: css("--body-text-color"), family: getComputedStyle(box).fontFamily };
    const own = layout.template ?? {};
    const look = {
      xaxis: axis,
      yaxis: axis,
      scene: { xaxis: wall, yaxis: wall, zaxis: wall },
      hoverlabel: { bgcolor: css("--background-fill-primary"), bordercolor: line, font },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--body-text-color-subdued"), activecolor: css("--color-accent") },
    };
    const { width: _width, height: _height, ...rest } = layout;
    if (box.clientWidth < NARROW) {
      for (const [name, part] of Object.entries(layout.meta?.narrow ?? {})) rest[name] = { ...rest[name], ...part };
    }
    const styled = {
      ...rest,
      template: { ...own, layout: { ...look, ...own.layout } },
      autosize: true,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { ...layout.font, ...font },
    };
    if (touched && !layout.scene) styled.dragmode = false; // a finger on a picture scrolls the page
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) delete styled.transition;
    if (layout.meta?.ramp === "sequential") {
      for (const name of Object.keys(layout).filter((key) => /^coloraxis\d*$/.test(key))) {
        styled[name] = { ...layout[name], colorscale: rampStops(), autocolorscale: false, reversescale: false };
      }
    }
    return styled;
  }

  // Colours that a figure names by their meaning, `var(--bx-positive)`, as they are on the page now.
  function coloured(value, isColour = false) {
    if (typeof value === "string") return isColour ? value.replace(/^var\((--[\w-]+)\)$/, (_, name) => css(name)) : value;
    if (!value || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
    if (Array.isArray(value)) return isColour ? value.map((one) => coloured(one, true)) : value.map((one) => coloured(one));
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, coloured(one, /color(scale)?$/.test(name))]));
  }

  // Type that is read from the last row, and the room that it takes.
  function enlarge(styled) {
    const size = innerWidth > 640 ? PRESENTED.wide : PRESENTED.narrow;
    styled.font = { ...styled.font, size };
    styled.hoverlabel = { ...styled.hoverlabel, font: { ...styled.hoverlabel?.font, size } };
    for (const name of Object.keys(styled).filter((key) => /^[xy]axis\d*$/.test(key))) styled[name] = { ...styled[name], automargin: true };
    return size;
  }

  // Every row and column of a matrix has its label where that can be read, smaller than `size` if need be.
  function labelEvery(styled, [first], size, around) {
    const rows = first?.type === "heatmap" && Array.isArray(first.y) && styled.yaxis?.type === "category" ? first.y.length : 0;
    const room = Math.floor((box.clientHeight - around) / rows) - 1; // px of a label
    if (!rows || room >= size || room < READABLE) return;
    for (const name of ["xaxis", "yaxis"]) styled[name] = { ...styled[name], tickmode: "linear", tick0: 0, dtick: 1, tickfont: { size: room } };
  }

  // Plotly starts over, and forgets zoom and camera, when the options are not the very same ones as before.
  function makeOptions(Plotly) {
    const save = (format) => ({ name: format.toUpperCase(), title: `Download as ${format.toUpperCase()}`, icon: Plotly.Icons[format === "png" ? "camera" : "disk"],
      click: () => BertExplorer.picture.save("PlotlyChart", element, props, settings, format) });
    const grid = { width: 24, height: 24, path: "M3 3h18v3H3zM3 9h8v4H3zM13 9h8v4h-8zM3 16h8v4H3zM13 16h8v4h-8z" };
    const { partOf, saveNumbers } = BertExplorer.picture;
    const numbers = { name: "CSV", title: "Download the numbers as CSV", icon: grid, click: () => saveNumbers(element) };
    const files = [save("png"), save("svg"), ...(partOf(element) ? [numbers] : [])];
    const all = touched ? [...UNUSED, "zoom2d", "pan2d", "resetScale2d"] : UNUSED;
    const unused = all.filter((name) => !(settings.with_lasso && name === "lasso2d"));
    const _baseUrl = ""; // else colour bars are painted by the address that the page had, and lost with the next
    return { _baseUrl, displaylogo: false, displayModeBar: "hover", plotlyServerURL: "", modeBarButtonsToRemove: unused, modeBarButtonsToAdd: files };
  }

  function clicked({ points: [point] }) {
    const list = (value) => (ArrayBuffer.isView(value) ? Array.from(value) : value ?? null);
    const index = list(point.pointNumber ?? point.pointIndex ?? 0);
    trigger("select", {
      index: long ? long.whole(index, ranges) : index,
      value: point.z ?? point.text ?? point.y ?? null,
      x: point.x ?? null,
      y: point.y ?? null,
      customdata: list(point.customdata),
      trace: point.curveNumber,
    });
  }

  // What was drawn round with the lasso, as the numbers of the rows in customdata.
  function lassoed(event) {
    const rows = (event?.points ?? []).map((point) => Number(point.customdata)).filter(Number.isInteger);
    if (rows.length) trigger("lasso", { index: rows, value: rows.length });
  }

  // Takes in a new value.
  function draw() {
    figure = null;
    return redraw();
  }

  // Draws what is to be shown now; what changes while Plotly is at work is drawn after it. In a box without room
  // Plotly cuts the margins down, and leaves them so when there is room again.
  async function redraw() {
    stale = true;
    if (drawing || !visible()) return; // the ResizeObserver draws it when it is shown
    drawing = true;
    try {
      const Plotly = await BertExplorer.plotly();
      while (stale && visible()) {
        stale = false;
        await drawOnce(Plotly);
      }
    } finally {
      drawing = false;
    }
    refit();
  }

  // Follows the box, which may have changed while Plotly was at work.
  async function refit() {
    if (!visible()) return;
    if (stale) return redraw();
    const drawn = box._fullLayout;
    if (!drawn || drawing) return;
    if ((box.clientWidth < NARROW) !== (drawn.width < NARROW)) return draw();
    if (Math.abs(box.clientWidth - drawn.width) > 1 || Math.abs(box.clientHeight - drawn.height) > 1) {
      (await BertExplorer.plotly()).Plots.resize(box);
    }
  }

  // The overview of a long figure beside the chart, which together take the chart's place.
  function arrange() {
    if (!long && !overview) return;
    if (!overview) {
      overview = BertExplorer.window.overview();
      box.replaceWith(el("div", {}, overview.root));
      overview.root.after(box);
      BertExplorer.window.follow(() => long && redraw(), box);
    }
    const both = box.parentElement;
    overview.root.hidden = !long;
    const look = long?.look(both.clientWidth, settings.height);
    both.className = look?.class ?? "";
    both.style.height = look ? `${look.height}px` : "";
    box.style.height = long ? "" : `${settings.height}px`;
  }

  // What it shows, in words, on the drawing alone: the buttons beside it stay buttons.
  function tell(words) {
    const [drawing, ...more] = box.querySelectorAll("svg.main-svg");
    for (const svg of more) svg.setAttribute("aria-hidden", "true");
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", words || settings.label || "chart");
  }

  async function drawOnce(Plotly) {
    const { value } = props;
    const fresh = !figure;
    if (fresh) {
      figure = value && typeof value === "string" ? JSON.parse(value) : BertExplorer.plain(value);
      long = BertExplorer.figureWindow(figure);
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
    if (settings.with_lasso) Object.assign(layout, { selections: [], selectionrevision: box.dataset.drawn ?? "0" });
    options ??= makeOptions(Plotly);
    await Plotly.react(box, coloured(data), layout, options);
    tell(layout.meta?.alt);
    if (first) {
      box.on("plotly_click", clicked);
      box.on("plotly_selected", lassoed);
      BertExplorer.linked?.chart(box);
    }
    box.dataset.drawn = 1 + Number(box.dataset.drawn ?? 0);
  }

  box.style.height = `${settings.height}px`;
  if (settings.label) box.setAttribute("aria-label", settings.label);
  new ResizeObserver(refit).observe(box);
  BertExplorer.onTheme(draw, box);
  box.addEventListener("bx-restage", draw);
  return draw;
});
