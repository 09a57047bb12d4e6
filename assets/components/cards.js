// Classes as coloured cards: a name, and a sentence per line. What is typed is sent after a short pause, one answer at a time.
import { addressOf, button, el } from "../shared/dom.js";
import { drawn, host } from "../shared/mounting.js";

const PAUSE = 120; // ms after the last key
const PATIENCE = 4000; // ms for an answer, after which the next one is asked for all the same
const MOST_BYTES = 1e6; // of a dropped file
const ACROSS = 3; // cards beside each other
const EMPTY = "one sentence per line, or drop a file";

const linesOf = (text) => text.split(/\r\n|\r|\n/).map((line) => line.trim()).filter(Boolean);
const keyOf = (cards) => JSON.stringify(cards.map(({ name, text }) => [name, linesOf(text)]));

drawn("Cards", ({ root, trigger }) => {
  const said = el("p", { class: "bx-cards-said", role: "status" });
  const emptied = button("", () => change(before ?? empty(3), 0, before ? null : cards), { class: "bx-cards-empty" }); // or undo that
  let value = null;
  let cards = []; // {name, text}
  let known = ""; // the key of the cards that Python knows
  let before = null; // the cards that were emptied, while nothing else was changed
  let timer = 0;
  let asked = 0; // since when an answer is waited for

  function changed() {
    clearTimeout(timer);
    timer = setTimeout(send, PAUSE);
    mark();
  }

  function send() {
    const now = keyOf(cards);
    if (now === known) return;
    const waits = asked && asked + PATIENCE > performance.now();
    if (waits) return void (timer = setTimeout(send, PAUSE));
    known = now;
    asked = performance.now();
    trigger("select", { index: JSON.parse(now), value: now.length });
  }

  function cardOf({ name, text }, c) {
    const title = el("input", { class: "bx-card-name", "aria-label": `Name of class ${c + 1}`, placeholder: `Class ${c + 1}`, maxlength: "100" });
    title.value = name;
    const area = el("textarea", { rows: "4", spellcheck: "true", "aria-label": `Sentences of class ${c + 1}, one per line`, placeholder: EMPTY });
    area.defaultValue = text;
    const add = button("+ add a sentence", () => {
      area.focus();
      area.setRangeText(linesOf(area.value).length ? `${area.value.trimEnd()}\n` : "", 0, area.value.length, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }, { class: "bx-card-add", title: "or drop a file here" });
    const remove = cards.length > 2 ? button("×", () => change(cards.toSpliced(c, 1), Math.max(0, c - 1)), { class: "bx-card-remove", "aria-label": `Remove class ${c + 1}`, title: "Remove this class" }) : null;
    return el("section", { class: "bx-card", style: `--bx-class: var(--bx-series-${c + 1})`, "aria-label": `class ${c + 1}`, "data-card": c },
      el("header", {}, title, el("span", { class: "bx-card-count", title: "sentences" }), remove),
      el("div", { class: "bx-card-lines" }, el("div", { class: "bx-card-marks", "aria-hidden": "true" }), area), add, el("div", { class: "bx-card-faults" }));
  }

  function build() {
    const more = button("+ another class", () => change([...cards, ...empty(1)], cards.length), { class: "bx-cards-add" });
    more.disabled = cards.length >= value.most;
    emptied.textContent = before ? "Undo" : "Empty cards";
    root.inert = !host.page; // in a file, nothing answers
    root.style.setProperty("--cards", Math.min(cards.length, ACROSS));
    root.replaceChildren(...cards.map(cardOf), el("footer", {}, more, emptied), said);
    mark();
  }

  // Other cards, in place of `former` ones that Undo brings back, and the focus in one of them.
  function change(next, focused = 0, former = null) {
    [before, cards] = [former, next];
    build();
    root.children[focused].querySelector(".bx-card-name").focus();
    changed();
  }

  const empty = (count) => Array.from({ length: count }, () => ({ name: "", text: "" }));

  // The number of sentences; faults and mistakes, where the cards are those that Python has seen.
  function mark() {
    const seen = keyOf(cards) === keyOf(sent()) ? value : { wrong: [], faults: [] };
    cards.forEach(({ text }, c) => {
      const ofCard = (list) => list.filter(({ card }) => card === c);
      const [wrong, faults, lines] = [ofCard(seen.wrong), ofCard(seen.faults), linesOf(text)];
      const told = (list) => list.filter(({ line }) => line >= 0).map((one) => `“${lines[one.line]}” ${one.text}`);
      const section = root.children[c];
      const [marks, area] = section.querySelector(".bx-card-lines").children;
      let at = -1; // of the lines that hold something
      marks.replaceChildren(...text.split("\n").map((line) => {
        const number = line.trim() ? (at += 1) : null;
        const kind = ["bx-fault", "bx-wrong"].find((_, i) => [faults, wrong][i].some((one) => one.line === number));
        return el("div", { class: kind }, line || "\u200b");
      }));
      area.title = area.ariaDescription = told(wrong).join("\n");
      section.querySelector(".bx-card-count").textContent = lines.length;
      section.querySelector("header").classList.toggle("bx-fault", faults.some(({ line }) => line < 0));
      section.lastChild.replaceChildren(...told(faults).map((words) => el("p", { class: "bx-fault-note" }, words)));
    });
    said.textContent = seen.faults.find(({ line }) => line < 0)?.text ?? "";
  }

  const sent = () => value.classes.map(({ name, lines }) => ({ name, text: lines.join("\n") }));

  root.addEventListener("input", ({ target }) => {
    cards[target.closest(".bx-card").dataset.card][target.matches("textarea") ? "text" : "name"] = target.value;
    before = null;
    emptied.textContent = "Empty cards";
    changed();
  });

  // A dropped file and a pasted table are read by the server, which then has their sentences in cards.
  async function takeIn(file, event) {
    const card = +over(event).dataset.card;
    const content = await addressOf(file);
    known = keyOf(cards);
    trigger("select", { index: { cards: JSON.parse(known), card, name: file.name, content }, value: content.length });
  }

  // Whether a text is copied from a sheet, or each line has a comma or semicolon as tables have it, unlike sentences.
  const isTable = (text) => linesOf(text).length > 1 && (text.includes("\t") || linesOf(text).every((line) => /[,;](?! )/.test(line)));

  root.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (!isTable(text)) return; // a list goes where the cursor is
    event.preventDefault();
    takeIn(new File([text], ""), event);
  });

  const over = (event) => event.target.closest?.(".bx-card") ?? root.querySelector(".bx-card");
  root.addEventListener("dragover", (event) => {
    event.preventDefault();
    for (const card of root.querySelectorAll(".bx-card")) card.classList.toggle("bx-over", card === over(event));
  });
  root.addEventListener("dragleave", () => root.querySelector(".bx-over")?.classList.remove("bx-over"));
  root.addEventListener("drop", (event) => {
    const [file] = event.dataTransfer.files;
    root.querySelector(".bx-over")?.classList.remove("bx-over");
    event.preventDefault();
    said.textContent = file?.size > MOST_BYTES ? "This file is larger than 1 MB. Choose A file above, which takes larger ones." : "";
    if (!said.textContent) takeIn(file ?? new File([event.dataTransfer.getData("text/plain")], "dropped.txt"), event);
  });

  return (now) => {
    value = now;
    if (!value) return root.replaceChildren();
    const [mine, incoming] = [keyOf(cards), keyOf(sent())];
    const pending = root.firstChild && mine !== known;
    asked = 0;
    if (pending && incoming !== mine) return; // of an earlier moment: what is typed now is on its way
    if (incoming !== mine || !root.firstChild) {
      cards = sent();
      before = null;
      build();
    } else mark();
    known = incoming;
  };
});
