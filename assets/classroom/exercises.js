// A teacher's page: links that students pasted, each checked by the server.
import { check, proof, readProof } from "../shared/checking.js";
import { el } from "../shared/dom.js";
import { followSystem } from "../shared/system_theme.js";

const MOST = 200; // lines
const SHOWN = 80; // characters of a line that is no link
const NO_PROOF = "This is no link of an exercise; its end says #exercise= and which one.";
const NOTHING = "Paste at least one link.";
const TOO_MANY = `These are more than ${MOST} lines; check them in parts.`;

const form = document.querySelector("form");
const box = document.getElementById("links");
const said = document.getElementById("said");
const found = document.getElementById("found");
const submit = form.querySelector("button");
const app = location.origin + location.pathname.replace(/[^/]*$/, "");

followSystem();

let turn = 0; // counts the checks of all links: a newer one ends an older one

form.addEventListener("submit", (event) => {
  event.preventDefault();
  checkAll(box.value.split("\n").map((line) => line.trim()).filter(Boolean));
});

async function checkAll(lines) {
  const mine = (turn += 1);
  found.replaceChildren();
  const wrong = !lines.length ? NOTHING : lines.length > MOST ? TOO_MANY : "";
  said.textContent = wrong;
  if (wrong) return;
  submit.setAttribute("aria-disabled", "true");
  const first = new Map(); // the number of the line that a link was first in
  let done = 0;
  for (const [index, line] of lines.entries()) {
    said.textContent = `Link ${index + 1} of ${lines.length} is being checked…`;
    const { row, solved } = await checkLine(line, index + 1, first);
    if (turn !== mine) return;
    found.append(row);
    done += solved;
  }
  said.textContent = `${done} of ${lines.length} ${lines.length === 1 ? "is" : "are"} done.`;
  submit.removeAttribute("aria-disabled");
}

async function checkLine(line, number, first) {
  const read = readProof(line);
  if (!read) return { row: tell(number, false, line.slice(0, SHOWN), "", NO_PROOF), solved: 0 };
  const { who, name, query } = read;
  try {
    const told = await check(name, query);
    const key = `${name}?${told.query}`;
    const same = first.has(key) ? ` It shows the same as line ${first.get(key)}.` : "";
    if (!first.has(key)) first.set(key, number);
    const task = el("small");
    task.innerHTML = told.task; // from our own files: Markdown without HTML
    const open = el("a", { href: proof(name, query, app), target: "_blank", rel: "noopener" }, "Open it");
    const row = tell(number, told.done, who, `Lesson ${told.lesson}`, told.told + same, task, open);
    return { row, solved: Number(told.done) };
  } catch (error) {
    return { row: tell(number, false, who, name, error.message), solved: 0 };
  }
}

function tell(number, done, who, lesson, sentence, task = null, open = null) {
  const about = [who, lesson].filter(Boolean).join(" · ") || `Line ${number}`;
  return el("li", { class: done ? "bx-done" : "bx-not" },
    el("i", { role: "img", "aria-label": done ? "done" : "not done" }, done ? "✓" : "✗"),
    el("div", {}, el("p", {}, el("b", {}, about)), task ? el("p", {}, task) : null, el("p", {}, sentence, open ? " " : null, open)));
}
