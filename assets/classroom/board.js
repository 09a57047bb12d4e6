// The board of a room: over the page, for the projector. While it is away, a chip on the page says that a room is open.
import { button, el, saveFile } from "../shared/dom.js";
import { exercisePage, QUESTIONS, roundPage, startPage, teachingPage } from "./board_pages.js";
import { act, classroom, openRoom, setFollowing, spoken } from "./room.js";

const LOCAL = "Phones cannot reach this machine: start the app with --host 0.0.0.0, and they can from the same network.";

const board = el("section", { id: "room", popover: "manual", "aria-label": "Board of the room" });
board.addEventListener("pointerdown", () => (held = true));
let code = null; // the QR code's image
let held = false; // whether a pointer is down on the board

/** The entry in the list of lessons. */
export const roomEntry = () => button(classroom.room ? `To the room ${spoken()} ›` : "Open a room for your class ›", open, { id: "open-room" });

async function open() {
  try {
    await openRoom();
    showBoard();
  } catch (error) {
    document.getElementById("open-room")?.after(el("p", { role: "alert" }, error.message));
  }
}

export function showBoard() {
  if (!board.isConnected) document.body.append(board);
  board.replaceChildren(); // the page may have moved on since
  board.showPopover();
  document.body.dataset.board = "open";
  draw();
  board.querySelector("button")?.focus();
}

function hide() {
  if (board.isConnected) board.hidePopover();
  delete document.body.dataset.board;
  document.getElementById("room-chip")?.focus();
}

// The room is over.
function remove() {
  board.remove();
  delete document.body.dataset.board; // otherwise the page could no longer scroll
  document.getElementById("room-chip")?.remove();
  document.getElementById("open-room")?.replaceWith(roomEntry());
  code = null;
}

// ---- Drawing.

// Redraw everything at each change, keeping typed text, what is selected in it, the focus and the widths of bars.
function draw() {
  if (!classroom.state) return;
  chip();
  if (held || !board.matches(":popover-open")) return; // a button that is pressed must not be replaced
  const typed = new Map([...board.querySelectorAll("input")].map((box) => [box.name, box.value]));
  const widths = new Map([...board.querySelectorAll("[data-bar]")].map((bar) => [bar.dataset.bar, bar.style.width]));
  const focus = document.activeElement?.dataset?.id ?? document.activeElement?.name;
  const { selectionStart: from, selectionEnd: to } = document.activeElement ?? {};
  board.replaceChildren(head(), aside(), main());
  for (const box of board.querySelectorAll("input")) box.value = typed.get(box.name) ?? box.value;
  for (const bar of board.querySelectorAll("[data-bar]")) {
    const wanted = bar.style.width;
    bar.style.width = widths.get(bar.dataset.bar) ?? "0%";
    requestAnimationFrame(() => requestAnimationFrame(() => (bar.style.width = wanted)));
  }
  if (!focus) return;
  const again = [...board.querySelectorAll("[data-id], input")].find((one) => (one.dataset.id ?? one.name) === focus);
  (again ?? board.querySelector(".bx-room-at .bx-room-main"))?.focus(); // the focused element may be gone
  if (again?.type === "text" && from !== null) again.setSelectionRange(from, to);
}

function chip() {
  const box = document.getElementById("room-chip") ?? document.body.appendChild(button("", showBoard, { id: "room-chip", title: "Back to the board" }));
  const here = classroom.state.people.filter((one) => one.here).length;
  box.textContent = `Room ${spoken()} · ${here} here${classroom.room.following ? " · following" : ""}`;
}

function head() {
  const { following } = classroom.room;
  const follow = button(following ? "Phones follow this page" : "Let phones follow this page", () => setFollowing(!following), { "data-id": "follow", "aria-pressed": String(Boolean(following)) });
  const end = button("Close the room", () => confirm("Close the room for everyone? Answers that you have not saved are lost.") && act("end"), { "data-id": "end" });
  const away = button("Back to the page", hide, { "data-id": "away", class: "bx-room-main" });
  const save = ({ csv }) => saveFile(new Blob(["\ufeff", csv], { type: "text/csv" }), `${classroom.room.word}.csv`); // the mark tells a spreadsheet that it is UTF-8
  const record = button("Save the record", () => act("record", {}, save), { "data-id": "record", title: "All answers by nickname, as CSV" });
  return el("header", {}, el("h2", {}, "Room ", el("b", {}, spoken())), el("p", { class: "bx-room-lost", role: "status" }, "Connection lost. Reconnecting…"), follow, record, end, away);
}

// How to join, and who has joined.
function aside() {
  const { address, word } = classroom.room;
  if (address) code ??= el("img", { alt: `QR code of the way into the room ${spoken()}`, src: `bx/rooms/${word}/code.svg`, width: 240, height: 240 }); // one image, so that it is fetched once
  const shown = address.replace(/^https?:\/\//, "");
  const way = address ? [code, el("p", { class: "bx-room-address" }, shown)] : [el("p", { class: "bx-room-wrong" }, LOCAL), el("p", { class: "bx-room-address" }, `${location.host}/join`)];
  const { people, open } = classroom.state;
  const door = button(open ? "Close the door" : "Open the door", () => act("door", { open: !open }), { "data-id": "door" });
  const ranked = [...people].sort((one, other) => other.points - one.points);
  const rows = ranked.map((one) => {
    const out = button("×", () => act("remove", { id: one.id }), { "data-id": `out-${one.id}`, "aria-label": `Send ${one.name} out` });
    const kind = [one.here ? "" : "bx-away", one.answered ? "bx-answered" : ""].join(" ").trim();
    return el("li", { class: kind || null, title: one.here ? null : "away" }, el("span", {}, one.name), el("em", {}, String(one.points)), out);
  });
  return el("aside", {}, ...way, el("p", { class: "bx-room-word" }, spoken()),
    el("p", { class: "bx-room-count" }, `${people.length} in the room`, open ? null : ", the door is closed", " ", door), el("ul", {}, ...rows));
}

function main() {
  const { state, wrong } = classroom;
  const { exercise, round, teaching } = state;
  const said = wrong ? [el("p", { class: "bx-room-wrong", role: "alert" }, wrong)] : [];
  const page = round ? roundPage(round) : teaching ? teachingPage(teaching) : exercise ? exercisePage(exercise) : startPage();
  return el("div", { class: "bx-room-at" }, ...said, ...page);
}

// ---- In a lesson's step: its question, the round that fits it, and its exercise.

let given = null; // { name, give, told }: the exercise in the panel, its button and its count

/** The buttons of a step; none without a room. */
export function forClass(lesson, at) {
  const { exercise, options, round } = lesson.steps[at];
  given = null;
  if (!classroom.room) return [];
  const asking = (text, question) => button(text, () => (act("ask", question), showBoard()), { class: "bx-class-round" });
  const question = options.length ? asking("Ask the class", { kind: "lesson", lesson: lesson.name, step: at + 1 }) : "";
  return [question, round ? asking(`Round on the board: ${QUESTIONS[round.kind][0]}`, round) : "", exercise ? exerciseButton(exercise) : ""];
}

// A button that gives the class an exercise, and how many have done it.
function exerciseButton({ name }) {
  const give = button("", () => (isGiven(name) ? showBoard() : act("give", { exercise: name })), { class: "bx-class-do" });
  given = { name, give, told: el("span", { role: "status" }) };
  countDone();
  return el("div", { class: "bx-class-exercise" }, give, given.told);
}

const isGiven = (name) => classroom.state?.exercise?.name === name;

function countDone() {
  if (!given) return;
  const known = classroom.state?.exercises.find((one) => one.name === given.name);
  given.give.textContent = isGiven(given.name) ? "On the board" : "Give it to the class";
  given.told.textContent = known ? `${known.solved.length} of ${classroom.state.people.length} have done it.` : "";
}

document.addEventListener("bert:room", () => {
  if (classroom.room) {
    countDone();
    return draw();
  }
  given = null;
  for (const one of document.querySelectorAll("#lessons :is(.bx-class-round, .bx-class-exercise)")) one.remove();
  remove();
});
document.addEventListener("keydown", (event) => event.key === "Escape" && board.matches(":popover-open") && hide());
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => held && setTimeout(() => ((held = false), draw())));
