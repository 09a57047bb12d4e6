// Shares as horizontal bars, in one group or several.
import { el, plain } from "../shared/dom.js";
import { define } from "../shared/mounting.js";

define("Bars", ({ element, trigger, props }) => {
  const root = element.querySelector(".bx-bars");
  let shape = "";

  function emptyBar(index) {
    return el("button", { type: "button", "data-index": JSON.stringify(index) },
      el("span", { class: "bx-name" }, el("bdi", {})), el("span", { class: "bx-percent" }),
      el("span", { class: "bx-track" }, el("span", { class: "bx-fill" })), el("span", { class: "bx-note" }));
  }

  function build({ groups, grouped, beside }) {
    root.classList.toggle("bx-beside", Boolean(beside));
    root.replaceChildren(...groups.map((group, g) =>
      el("div", { class: "bx-group", role: "group" }, el("h3", {}), ...group.rows.map((_, r) => emptyBar(grouped ? [g, r] : r)))));
  }

  function fillIn(button, row) {
    const [name, percent, track, note] = button.children;
    name.title = row.label;
    name.firstChild.textContent = row.label;
    track.firstChild.style.width = `${100 * row.share}%`;
    track.firstChild.style.background = row.series ? `var(--bx-series-${row.series})` : "";
    percent.textContent = row.percent;
    note.title = note.textContent = row.note;
  }

  // Change bars that stay instead of making new ones: they glide, and keep the focus.
  function draw() {
    const value = plain(props.value || null) ?? { groups: [] }; // never shown: an empty string
    const next = JSON.stringify([value.grouped, value.beside, value.groups.map((group) => group.rows.length)]);
    if (next !== shape) build(value);
    shape = next;
    value.groups.forEach(({ heading, rows }, g) => {
      const [title, ...buttons] = root.children[g].children;
      title.textContent = heading;
      title.hidden = !heading;
      if (heading) root.children[g].setAttribute("aria-label", heading);
      buttons.forEach((button, r) => fillIn(button, rows[r]));
    });
  }

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    trigger("select", { index: JSON.parse(button.dataset.index), value: button.querySelector(".bx-name").textContent });
  });
  return draw;
});
