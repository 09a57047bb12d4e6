// The small components: texts, shares and boxes, some of which are buttons.
import { printed } from "../arithmetic/numbers.js";
import { button, el } from "../shared/dom.js";
import { host } from "../shared/host.js";
import { drawn } from "../shared/mounting.js";

// A click on a button has Python do something with its `data-index` and its first text.
function choosing(root, trigger) {
  root.addEventListener("click", ({ target }) => {
    const chosen = target.closest("button");
    if (chosen) trigger("select", { index: JSON.parse(chosen.dataset.index), value: chosen.querySelector("bdi").textContent });
  });
}

// The model as boxes, from the input at the top to the heads; a click opens the tab about a box.
drawn("Architecture", ({ root }) => {
  function box({ name, size, weights, tab, choice }) {
    const lines = [el("b", {}, name), el("span", {}, size), el("span", { class: "bx-note" }, weights)];
    if (!tab) return el("div", { class: "bx-box" }, ...lines);
    const opens = button("", () => host.page?.open(tab, choice), { class: "bx-box", title: `Open ${choice ? `${tab}, ${choice}` : tab}` });
    opens.replaceChildren(...lines);
    return opens;
  }

  function stage({ blocks, times, note, between }) {
    const boxes = blocks.map(box);
    if (!times) return el("div", { class: "bx-stage" }, ...boxes);
    const repeated = el("div", { class: "bx-times" }, el("b", {}, `× ${times}`), el("span", {}, "layers"), note ? el("span", {}, note) : null);
    return el("div", { class: "bx-stage bx-repeated" }, el("div", { class: "bx-layer" }, ...boxes.flatMap((one) => [one, el("div", { class: "bx-add" }, between)])), repeated);
  }

  return (value) => root.replaceChildren(...(value?.stages ?? []).map(stage));
});

// Shares as horizontal bars, in one group or several.
drawn("Bars", ({ root, trigger }) => {
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

  function fillIn(bar, row) {
    const [name, percent, track, note] = bar.children;
    name.title = name.firstChild.textContent = row.label;
    track.firstChild.style.width = `${100 * row.share}%`;
    track.firstChild.style.background = row.series ? `var(--bx-series-${row.series})` : "";
    percent.textContent = row.percent;
    note.title = note.textContent = printed(row.note);
  }

  choosing(root, trigger);
  // Change bars that stay instead of making new ones: they glide, and keep the focus.
  return (sent) => {
    const value = sent ?? { groups: [] };
    const next = JSON.stringify([value.grouped, value.beside, value.groups.map((group) => group.rows.length)]);
    if (next !== shape) build(value);
    shape = next;
    value.groups.forEach(({ heading, rows }, g) => {
      const [title, ...bars] = root.children[g].children;
      title.textContent = heading;
      title.hidden = !heading;
      if (heading) root.children[g].setAttribute("aria-label", heading);
      bars.forEach((bar, r) => fillIn(bar, rows[r]));
    });
  };
});

// Short texts in a line, each one a button.
drawn("Chips", ({ root, trigger }) => {
  choosing(root, trigger);
  return (value) => {
    root.replaceChildren();
    if (!value) return;
    root.setAttribute("aria-label", value.label);
    root.classList.toggle("bx-back", value.kind === "back");
    const chip = (text, index) => el("button", { type: "button", "data-index": index, "aria-pressed": value.pressed?.[index] }, el("bdi", {}, text));
    root.append(el("span", {}, value.label), ...value.chips.map(chip));
  };
});

// The most telling fact in a sentence, with a link to its reason. Screen readers hear it when it changes, not at every drawing.
drawn("Finding", ({ root, trigger }) => {
  const text = el("p", { role: "status" });
  const why = button("see why →", () => trigger("select", { index: 0, value: text.textContent }), { hidden: "" });
  root.append(text, why);
  return (value) => {
    const now = value?.text ?? "";
    if (text.textContent !== now) text.textContent = now;
    root.classList.toggle("bx-without", Boolean(value?.none));
    host.page?.markFinding(text);
    why.hidden = !value?.why;
    why.title = value?.why ?? "";
  };
});

// The progress of long work: a sentence, and a thin bar below it.
drawn("Meter", ({ root }) => {
  const text = el("span");
  const bar = el("progress", { max: 1, "aria-label": "progress" });
  root.append(text, bar);
  return (value) => {
    text.textContent = value?.text ?? "";
    bar.hidden = !value?.text;
    if (typeof value?.share === "number") bar.value = value.share;
    else bar.removeAttribute("value");
  };
});

// One sentence for the reader. An error hides the pictures that it stands for: what they show is of an earlier input.
drawn("Notice", ({ root, settings }) => {
  let hides = [];
  root.classList.toggle("bx-keeps", Boolean(settings.keep_height));
  return (sent) => {
    const value = typeof sent === "string" ? { text: sent } : sent ?? {};
    const wrong = value.kind === "error";
    root.setAttribute("role", wrong ? "alert" : "status");
    root.classList.toggle("bx-error", wrong);
    root.textContent = value.text ?? "";
    for (const one of hides) delete one.dataset.wrong;
    hides = (value.hides ?? []).map((id) => document.getElementById(id)).filter(Boolean);
    for (const one of hides) one.dataset.wrong = "yes";
  };
});

// Texts with a number each, under a heading.
drawn("Ranking", ({ root, trigger }) => {
  const line = (row) =>
    el("button", { type: "button", "data-index": row.index },
      el("span", { class: "bx-name", title: row.text }, el("bdi", {}, row.text)),
      el("span", { class: "bx-figure" }, row.number));

  choosing(root, trigger);
  return (value) => root.replaceChildren(...(value ? [el("h3", {}, value.heading), ...value.rows.map(line), value.note ? el("p", {}, value.note) : ""] : []));
});
