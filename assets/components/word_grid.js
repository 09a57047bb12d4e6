// A table of coloured words; its first column and header stay in place when it scrolls.
import { inCss, isBright } from "../arithmetic/colour.js";
import { el, gridKeys, rove } from "../shared/dom.js";
import { drawn } from "../shared/mounting.js";
import { onTheme, ramp, rampTable } from "../shared/theme.js";
import * as shared from "./long_input.js";

drawn("WordGrid", ({ root, trigger }) => {
  const FIT = 28; // columns that are made to fit a wide window
  let value = null;
  let shown = "";
  const overviewFor = shared.overviewOf(root, () => value?.places && fill());
  let overview = null; // of a long input
  let buttons = []; // row by row
  let at = 0; // the cell that the Tab key reaches

  function cell(entry, row, column) {
    const colour = ramp(0.75 * entry.share);
    const style = `background:${inCss(colour)};color:${isBright(colour) ? "#000" : "#fff"}`;
    const label = `${value.rows[row]}, ${value.columns[column]}: ${entry.text}${entry.note && `, ${entry.note}`}`;
    return el("td", { class: String([row, column]) === String(value.outlined) ? "bx-outlined" : null }, el("button", { type: "button", style, title: entry.note || null, "aria-label": label, "data-row": row, "data-column": column },
      el("bdi", {}, entry.text)));
  }

  // The overview of a long input, above the window.
  function arrange() {
    const long = Boolean(value?.places);
    root.classList.toggle("bx-window", long);
    overview = overviewFor(long ? "bx-windowed bx-over-x" : "");
    if (!long) return;
    const level = (row, column) => 255 * value.cells[row][column].share;
    overview.draw({ x: value.places }, shared.paintMatrix({ rows: value.rows.length, columns: value.columns.length, level, table: rampTable() }));
    overview.point(value.outlined && { x: value.outlined[1] });
  }

  function draw(sent) {
    value = sent;
    arrange();
    fill();
  }

  function fill() {
    if (!value) return root.replaceChildren();
    const { first, last } = value.places ? overview.ranges().x : { first: 0, last: value.columns.length };
    const mark = (column) => (column === value.marked ? "bx-marked" : null);
    const head = el("tr", {}, el("th", { scope: "col" }, value.corner),
      ...value.columns.slice(first, last).map((name, c) => el("th", { scope: "col", class: mark(first + c) }, el("bdi", {}, name))));
    const body = value.cells.map((entries, r) =>
      el("tr", {}, el("th", { scope: "row" }, value.rows[r]), ...entries.slice(first, last).map((entry, c) => cell(entry, r, first + c))));
    const left = root.scrollLeft;
    root.classList.remove("bx-tight");
    const focused = buttons.includes(document.activeElement);
    root.replaceChildren(el("table", { "aria-label": value.alt || null }, el("thead", {}, head), el("tbody", {}, ...body)));
    const wide = root.scrollWidth > root.clientWidth && innerWidth > 640;
    root.classList.toggle("bx-tight", wide && head.childElementCount <= FIT); // all columns rather than wide ones
    const now = JSON.stringify([value.columns, value.marked]);
    const marked = head.querySelector(".bx-marked");
    root.scrollLeft = now === shown || !marked ? left : marked.offsetLeft + marked.offsetWidth / 2 - root.clientWidth / 2;
    shown = now;
    buttons = [...root.querySelectorAll("td button")];
    at = Math.min(at, buttons.length - 1);
    rove(buttons, at);
    if (focused) buttons[at]?.focus({ preventScroll: true });
  }

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    rove(buttons, (at = buttons.indexOf(button)));
    trigger("select", { index: [Number(button.dataset.row), Number(button.dataset.column)], value: button.textContent });
  });
  gridKeys(root, () => ({ columns: buttons.length / value.rows.length, buttons }), (index) => rove(buttons, (at = index)));
  onTheme(() => draw(value), root);
  return draw;
});
