// Classes as coloured cards: a name and a sentence per line. What is typed is sent after a short pause, one answer at a time.
import { classesOf, linesOf } from "../arithmetic/lists.js";
import { button, el, plain } from "../shared/dom.js";
import { host } from "../shared/host.js";
import { define } from "../shared/mounting.js";

const PAUSE = 120; // ms after the last key
const PATIENCE = 4000; // ms for an answer, after which the next one is asked for all the same
const SHOWN = 40; // lines of a card, until all are asked for
const MOST_BYTES = 2 ** 20; // of a dropped file
const ACROSS = 3; // cards beside each other
const NEW = "+ add a sentence, or drop a file";
const grows = CSS.supports("field-sizing", "content");

define("Cards", ({ element, trigger, props }) => {
  const root = element.querySelector(".bx-cards");
  const said = el("p", { class: "bx-cards-said", role: "status" });
  let value = null;
  let cards = []; // {name, lines, shown: the number of those on the page, all: whether all are to be}
  let told = ""; // the cards that Python knows
  let before = null; // the cards that were emptied
  let timer = 0;
  let asked = 0; // since when an answer is waited for

  const list = () => cards.map(({ name, lines }) => [name, lines.filter((line) => line.trim())]);
  const key = () => JSON.stringify(list());

  function changed() {
    clearTimeout(timer);
    timer = setTimeout(send, PAUSE);
    cards.forEach((card, c) => (root.querySelectorAll(".bx-card-count")[c].textContent = card.lines.filter((line) => line.trim()).length));
  }

  function send() {
    const now = key();
    if (now === told) return;
    const wait = asked + PATIENCE - performance.now();
    if (asked && wait > 0) {
      timer = setTimeout(send, Math.min(wait, PAUSE));
      return;
    }
    told = now;
    asked = performance.now();
    trigger("select", { index: JSON.parse(now), value: now.length });
  }

  function fit(area) {
    if (grows) return;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
  }

  const row = (text, attributes) => el("li", attributes, textarea(text), el("span", { class: "bx-fault-note" }));

  function textarea(text) {
    const area = el("textarea", { rows: "1", spellcheck: "true", maxlength: "20000" });
    area.defaultValue = text;
    return area;
  }

  function cardOf(card, c) {
    const name = el("input", { class: "bx-card-name", "aria-label": `Name of class ${c + 1}`, placeholder: `Class ${c + 1}`, maxlength: "100" });
    name.value = card.name;
    const remove = cards.length > 2 ? button("×", () => take(c), { class: "bx-card-remove", "aria-label": `Remove class ${c + 1}`, title: "Remove this class" }) : null;
    const seen = card.all ? card.lines : card.lines.slice(0, SHOWN);
    const more = card.lines.length - seen.length;
    card.shown = seen.length;
    const rows = seen.map((line) => row(line, {}));
    const last = row("", { class: "bx-card-new" });
    last.firstChild.placeholder = NEW;
    const rest = more ? button(`… and ${more.toLocaleString("en")} more`, () => showAll(c), { class: "bx-card-rest" }) : null;
    return el("section", { class: "bx-card", style: `--bx-class: var(--bx-series-${c + 1})`, "aria-label": `class ${c + 1}`, "data-card": c },
      el("header", {}, name, el("span", { class: "bx-card-count", title: "sentences" }, String(card.lines.length)), remove), el("ul", {}, ...rows, last), rest);
  }

  function build() {
    const more = button("+ another class", add, { class: "bx-cards-add" });
    more.disabled = cards.length >= value.most;
    const empty = button(before ? "Undo" : "Empty cards", before ? restore : clear, { class: "bx-cards-empty" });
    root.inert = !host.page; // in a file, nothing answers
    root.style.setProperty("--cards", Math.min(cards.length, ACROSS));
    root.replaceChildren(...cards.map(cardOf), el("footer", {}, more, empty), said);
    for (const area of root.querySelectorAll("textarea")) {
      area.setAttribute("aria-label", `Sentence of class ${+area.closest(".bx-card").dataset.card + 1}`);
      fit(area);
    }
    mark();
  }

  function rebuild(c, focus = ".bx-card-name") {
    build();
    root.querySelectorAll(".bx-card")[c]?.querySelector(focus)?.focus();
    changed();
  }

  function add() {
    cards.push({ name: "", lines: [] });
    rebuild(cards.length - 1);
  }

  function take(c) {
    cards.splice(c, 1);
    rebuild(Math.max(0, c - 1));
  }

  function showAll(c) {
    cards[c].all = true;
    build();
  }

  function clear() {
    before = cards;
    cards = Array.from({ length: 3 }, () => ({ name: "", lines: [] }));
    rebuild(0);
  }

  function restore() {
    cards = before;
    before = null;
    rebuild(0);
  }

  // Faults and mistakes, where the cards are those that Python has seen.
  function mark() {
    for (const one of root.querySelectorAll(".bx-fault, .bx-wrong")) one.classList.remove("bx-fault", "bx-wrong");
    for (const note of root.querySelectorAll(".bx-fault-note")) note.textContent = "";
    for (const one of root.querySelectorAll("[title]:is(textarea, input)")) one.removeAttribute("title");
    if (key() !== JSON.stringify(value.classes.map(({ name, lines }) => [name, lines]))) return;
    const put = (kind) => ({ card, line, text }) => {
      const section = root.querySelectorAll(".bx-card")[card];
      const place = line < 0 ? section.querySelector("header") : section.querySelectorAll("li:not(.bx-card-new)")[line];
      if (!place) return;
      place.classList.add(kind);
      place.firstChild.title = text;
      const note = place.querySelector(".bx-fault-note");
      if (kind === "bx-fault" && note) note.textContent = text;
    };
    value.wrong.forEach(put("bx-wrong"));
    value.faults.forEach(put("bx-fault"));
    const nameless = value.faults.find(({ line }) => line < 0);
    said.textContent = nameless ? nameless.text : "";
  }

  function draw() {
    value = plain(props.value || null);
    if (!value) return root.replaceChildren();
    const incoming = JSON.stringify(value.classes.map(({ name, lines }) => [name, lines]));
    const pending = root.firstChild && key() !== told;
    asked = 0;
    if (pending && incoming !== key()) return; // of an earlier moment: what is typed now is on its way
    if (incoming !== key() || !root.firstChild) {
      cards = value.classes.map(({ name, lines }) => ({ name, lines }));
      before = null;
      build();
    } else mark();
    told = incoming;
  }

  const at = (node) => {
    const section = node.closest(".bx-card");
    const item = node.closest("li");
    return { section, card: cards[section.dataset.card], c: +section.dataset.card, item, line: item ? [...item.parentNode.children].indexOf(item) : -1 };
  };

  function insert(item, texts) { // rows below the item
    for (const text of texts.toReversed()) item.after(row(text, {}));
    for (const area of item.parentNode.querySelectorAll("textarea")) fit(area);
  }

  function read(section) { // the shown lines, and the others as they were
    const card = cards[section.dataset.card];
    const hidden = card.lines.slice(card.shown);
    const shown = [...section.querySelectorAll("textarea")].map((area) => area.value);
    if (!shown.at(-1).trim()) shown.pop();
    card.lines = [...shown, ...hidden];
    card.shown = shown.length;
    changed();
  }

  root.addEventListener("input", ({ target }) => {
    const { section, card, item } = at(target);
    if (!item) {
      card.name = target.value;
      return changed();
    }
    fit(target);
    if (item.classList.contains("bx-card-new") && target.value.trim()) {
      item.classList.remove("bx-card-new");
      target.placeholder = "";
      const last = row("", { class: "bx-card-new" });
      last.firstChild.placeholder = NEW;
      last.firstChild.setAttribute("aria-label", target.getAttribute("aria-label"));
      item.after(last);
    }
    read(section);
  });

  root.addEventListener("keydown", (event) => {
    const { target, key: pressed } = event;
    if (!target.matches("textarea, .bx-card-name")) return;
    const { section, item } = at(target);
    const areas = [...section.querySelectorAll(".bx-card-name, textarea")];
    const place = areas.indexOf(target);
    const end = target.selectionStart === target.value.length;
    const move = (to) => (event.preventDefault(), areas[to]?.focus());
    if (pressed === "Enter" && !event.isComposing) {
      event.preventDefault();
      if (item && !item.classList.contains("bx-card-new") && !item.nextSibling.classList.contains("bx-card-new")) {
        insert(item, [""]);
        item.nextSibling.firstChild.focus();
      } else areas[place + 1]?.focus();
    } else if (pressed === "Backspace" && item && !target.value && !item.classList.contains("bx-card-new")) {
      move(place - 1);
      item.remove();
      read(section);
    } else if (pressed === "ArrowDown" && end) move(place + 1);
    else if (pressed === "ArrowUp" && target.selectionEnd === 0) move(place - 1);
  });

  root.addEventListener("focusout", ({ target }) => { // a line that was emptied goes
    const item = target.closest("li");
    if (!item || target.value.trim() || item.classList.contains("bx-card-new") || !item.isConnected) return;
    const section = item.closest(".bx-card");
    setTimeout(() => {
      if (item.contains(document.activeElement) || !section.isConnected) return;
      item.remove();
      read(section);
    });
  });

  // A list, or a table of sentences and labels.
  function takeIn(text, c, delimiters) {
    const found = classesOf(text, delimiters);
    if (!found) {
      const lines = linesOf(text);
      cards[c].lines.push(...lines);
      said.textContent = "";
      return rebuild(c, ".bx-card-new textarea");
    }
    if (cards.every(({ lines }) => !lines.some((line) => line.trim()))) cards = [];
    let left = 0;
    for (const { name, lines } of found) {
      const known = cards.find((card) => card.name.trim().toLowerCase() === name.toLowerCase());
      if (known) known.lines.push(...lines);
      else if (cards.length < value.most) cards.push({ name, lines });
      else left += lines.length;
    }
    rebuild(0);
    said.textContent = left ? `There is room for ${value.most} classes; ${left} sentences of others are left out.` : "";
  }

  root.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (!/[\r\n]/.test(text.trim())) return;
    event.preventDefault();
    const { c } = at(event.target);
    if (event.target.matches("textarea") && !event.target.value) event.target.closest("li:not(.bx-card-new)")?.remove();
    takeIn(text, c, ["\t"]);
  });

  const over = (event) => event.target.closest?.(".bx-card") ?? root.querySelector(".bx-card");
  root.addEventListener("dragover", (event) => {
    event.preventDefault();
    for (const card of root.querySelectorAll(".bx-card")) card.classList.toggle("bx-over", card === over(event));
  });
  root.addEventListener("dragleave", () => root.querySelector(".bx-over")?.classList.remove("bx-over"));
  root.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer.files;
    const c = +over(event).dataset.card;
    root.querySelector(".bx-over")?.classList.remove("bx-over");
    event.preventDefault();
    if (!file) return takeIn(event.dataTransfer.getData("text/plain"), c, ["\t"]);
    if (file.size > MOST_BYTES) {
      said.textContent = "This file is larger than 1 MB. Choose A file above, which takes larger ones.";
      return;
    }
    takeIn(await file.text(), c, /\.[ct]sv$/i.test(file.name) ? ["\t", ";", ","] : ["\t"]);
  });

  return draw;
});
