// Rows of names, numbers, bars and vectors; a vector is drawn as a strip with a small rectangle for each number.
import { bytes } from "../arithmetic/binary.js";
import { printed } from "../arithmetic/labels.js";
import { el, gridKeys, reveal, rove } from "../shared/dom.js";
import { drawn } from "../shared/mounting.js";
import { onTheme, paintVector } from "../shared/theme.js";

drawn("StripTable", ({ root, trigger, settings }) => {
  root.style.maxHeight = `${settings.height}px`;
  let value = null;
  let canvases = []; // {canvas, vector, top}
  let names = [];
  let marked = ""; // the text of the outlined row
  let sorted = null; // {column, falling}

  const paint = ({ canvas, vector, top }) => paintVector(canvas, vector, top);

  function strip(cell, marked) {
    const vector = new Float32Array(bytes(cell.data).buffer);
    const canvas = el("canvas", { width: vector.length, height: 1, role: "img", "aria-label": `${vector.length} numbers` });
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      const i = Math.min(vector.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * vector.length)));
      canvas.title = `${i + 1} of ${vector.length}: ${vector[i].toPrecision(3)}`;
    });
    canvases.push({ canvas, vector, top: cell.top });
    const box = el("div", { class: "bx-strip" }, canvas);
    if (marked) {
      const percent = (number) => `${(100 * number) / vector.length}%`;
      const place = `left:${percent(marked[0])};width:${percent(marked[1] - marked[0])}`;
      box.append(el("span", { class: "bx-mark", style: place, "aria-hidden": "true" }));
    }
    return box;
  }

  function cell(column, content, row) {
    if (content == null) return el("td", {});
    if (column.kind === "strip") return el("td", { class: "bx-of-strip" }, strip(content, row.marked));
    if (column.kind === "bar") return el("td", { class: "bx-of-bar" }, el("span", { style: `width:${(100 * content).toFixed(2)}%` }));
    if (column.kind !== "name") return el("td", { class: `bx-of-${column.kind}` }, el("bdi", {}, column.kind === "number" ? printed(content) : content));
    const text = el("bdi", {}, content);
    if (row.token == null) return el("th", { scope: "row" }, text);
    const button = el("button", { type: "button", "data-token": row.token }, text);
    names.push(button);
    return el("th", { scope: "row" }, button);
  }

  function title(column, index) {
    const order = sorted?.column === index ? (sorted.falling ? "descending" : "ascending") : null;
    const arrow = { descending: " ↓", ascending: " ↑" }[order] ?? "";
    const text = settings.sortable ? el("button", { type: "button", "data-column": index }, column.title + arrow) : column.title;
    return el("th", { scope: "col", class: `bx-of-${column.kind}`, "aria-sort": order }, text);
  }

  // Numbers rise, texts fall, so that the first click on a heading sorts texts from A.
  function inOrder() {
    if (!sorted) return value.rows;
    const { column, falling } = sorted;
    const order = (a, b) => (Number.isNaN(Number(a)) || Number.isNaN(Number(b)) ? String(b).localeCompare(String(a)) : Number(a) - Number(b));
    return value.rows.toSorted((a, b) => order(a.cells[column], b.cells[column]) * (falling ? -1 : 1));
  }

  function sortBy(column) {
    sorted = { column, falling: sorted?.column === column ? !sorted.falling : true };
    draw(value);
    root.querySelector(`[data-column="${column}"]`).focus({ preventScroll: true });
  }

  function draw(sent) {
    value = sent;
    canvases = [];
    names = [];
    if (!value) return root.replaceChildren();
    const head = el("tr", {}, ...value.columns.map(title));
    const rows = inOrder().map((row) =>
      el("tr", { class: row.strong ? "bx-strong" : null }, ...row.cells.map((content, i) => cell(value.columns[i], content, row))));
    root.replaceChildren(el("table", { "aria-label": value.label || null }, el("thead", {}, head), el("tbody", {}, ...rows)));
    const strips = value.columns.filter((column) => column.kind === "strip").length;
    root.style.setProperty("--strips", strips || 1);
    root.style.setProperty("--bar", strips ? "12%" : "50%");
    canvases.forEach(paint);
    const mark = root.querySelector(".bx-mark")?.closest("tr");
    if (mark && mark.textContent !== marked) reveal(root, mark.cells[0]); // vertically only: its name is always visible
    marked = mark?.textContent;
    rove(names, 0);
    if (names.length || settings.sortable) root.removeAttribute("tabindex");
    else root.tabIndex = 0; // so that keys can scroll it
  }

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.column) return sortBy(Number(button.dataset.column));
    if (button) trigger("select", { index: Number(button.dataset.token), value: button.textContent });
  });
  gridKeys(root, () => ({ buttons: names }), (next) => rove(names, next));
  onTheme(() => canvases.forEach(paint), root);
  return draw;
});
