// The record of a class: fetched only when the teacher takes it, shown as tables, saved as CSV, printed.
import { button, el, saveFile } from "../shared/dom.js";
import { act, changed, classroom, spoken } from "./room.js";

const HEADS = { text_a: "sentence", text_b: "second sentence", rank: "BERT’s rank", probability: "BERT’s probability" };

/** Fetch it, or go back to the board. */
export function takeRecord() {
  if (classroom.record) {
    Object.assign(classroom, { record: null, wrong: "" });
    changed();
  } else act("record", {}, (record) => (classroom.record = record));
}

export function recordPage(record) {
  const save = button("Save as CSV", () => saveRecord(record), { "data-id": "csv", class: "bx-room-main" });
  const print = button("Print", () => printRecord(record), { "data-id": "print" });
  const about = record.rows.length
    ? "All rounds, every answer, the exercises that were solved, and the head that was taught, by nickname. Only what you save or print stays: when the room closes, the rest is gone. Whoever leaves takes their answers along."
    : "Nobody has answered anything yet.";
  return [
    el("h3", {}, "Record of the class"),
    el("p", { class: "bx-room-quiet" }, about, " What was solved outside the room is proven by links: ", el("a", { href: "exercises", target: "_blank", rel: "noopener" }, "check them"), "."),
    ...(record.rows.length ? [el("nav", {}, save, print)] : []),
    // Folded: the board is seen by the whole class.
    ...(record.rows.length ? [el("details", { class: "bx-record", "data-id": "record-tables" }, el("summary", {}, "Show it here"), ...tables(record))] : []),
  ];
}

function saveRecord(record) {
  const file = new Blob(["\ufeff", record.csv], { type: "text/csv" }); // the mark tells a spreadsheet that it is UTF-8
  saveFile(file, `${classroom.room.word}.csv`);
}

// On paper stands nothing but the record.
function printRecord(record) {
  const paper = el("section", { id: "class-record" }, el("h1", {}, `Room ${spoken()}, ${new Date().toLocaleDateString()}`), ...tables(record));
  document.body.append(paper);
  addEventListener("afterprint", () => paper.remove(), { once: true });
  print();
}

// The points, then a table for each activity with the columns that it uses.
function tables({ columns, rows, people }) {
  const at = (name) => columns.indexOf(name);
  const ranked = [...people].sort((one, other) => other[1] - one[1]);
  const numbers = [...new Set(rows.map((row) => row[at("activity")]))];
  const activities = numbers.flatMap((number) => {
    const own = rows.filter((row) => row[at("activity")] === number);
    const [first] = own;
    const taught = ["head", "example", "try"].includes(first[at("kind")]);
    const solved = first[at("kind")] === "exercise";
    const told = taught ? first[at("answer")] : solved ? "" : [first[at("text_a")], first[at("text_b")]].filter(Boolean).join(" · ");
    const shown = taught ? own.filter((row) => row[at("kind")] !== "head") : own;
    const names = [...(taught ? ["kind"] : []), ...(taught || solved ? ["text_a", "text_b"] : []), "nickname", "answer", "expected", "rank", "probability", "points"];
    const used = names.filter((name) => shown.some((row) => row[at(name)] !== null && row[at(name)] !== ""));
    return [
      el("h4", {}, `${number}. ${first[at("question")]}`), el("p", {}, told),
      table(used.map((name) => HEADS[name] ?? name), shown.map((row) => used.map((name) => cell(name, row[at(name)])))),
    ];
  });
  return [el("h4", {}, "Points"), table(["nickname", "points"], ranked), ...activities];
}

const cell = (name, value) => (value === null ? "–" : name === "probability" ? `${(100 * value).toFixed(1)}%` : value);

function table(heads, rows) {
  const line = (tag) => (cells) => el("tr", {}, ...cells.map((one) => el(tag, {}, String(one))));
  return el("div", { class: "bx-record-table" }, el("table", {}, el("thead", {}, line("th")(heads)), el("tbody", {}, ...rows.map(line("td")))));
}
