// The page on a phone: it joins a room and shows the teacher's activity: follow, guess, teach.
import { percent } from "../arithmetic/numbers.js";
import { draw as drawSides } from "../file/sides.js";
import { el } from "../shared/dom.js";
import { keepSeat, keptSeat } from "../shared/seat.js";
import { followSystem } from "../shared/system_theme.js";
import { listen, send } from "./news.js";
import { left, texts } from "./question.js";

const [bar, main] = [document.getElementById("seat"), document.querySelector("main")];
let seat = null;
let state = null;
let stop = () => {};
let shown = ""; // what `main` shows, to redraw only on change
let free = null; // the app in a frame, when the person stops following
let letGo = ""; // "explore" or "exercise" while the frame is shown instead of what the teacher shows

followSystem();

// ---- Helpers.

const say = (text) => el("p", { class: "bx-quiet" }, text);
const button = (text, press, more = {}) => {
  const made = el("button", { type: "button", ...more }, text);
  made.addEventListener("click", press);
  return made;
};

// Build the page once for each `key`; typed text stays.
function fill(key, build) {
  if (shown === key) return;
  const typed = new Map([...main.querySelectorAll("input:not([type=radio]), textarea")].map((one) => [one.name, one.value]));
  const focus = document.activeElement?.name;
  shown = key;
  main.replaceChildren(...build());
  for (const one of main.querySelectorAll("input:not([type=radio]), textarea")) {
    if (typed.get(one.name) && !one.value) one.value = typed.get(one.name);
    if (focus && one.name === focus) one.focus();
  }
}

// A form with a line for errors; `send(values)` submits it; on success, the boxes named in `clears` are emptied.
function form(parts, label, send, clears = []) {
  const wrong = el("p", { class: "bx-error", role: "alert" });
  const submit = el("button", { type: "submit", class: "bx-main" }, label);
  const made = el("form", {}, ...parts, submit, wrong);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.textContent = "";
    submit.disabled = true;
    try {
      const values = Object.fromEntries(new FormData(made));
      for (const name of clears) made.elements[name].value = "";
      await send(values).catch((error) => {
        for (const name of clears) made.elements[name].value ||= values[name]; // keep what was typed
        throw error;
      });
    } catch (error) {
      wrong.textContent = error.message;
    }
    submit.disabled = false;
  });
  return made;
}

const field = (label, name, more = {}) =>
  el("label", {}, label, el("input", { name, autocomplete: "off", autocapitalize: "off", spellcheck: "false", ...more }));
const act = (action, body) => send(`/${seat.word}/${action}`, seat.token, body);

// ---- Joining.

function ask(why = "") {
  seat = null;
  bar.hidden = true;
  const word = new URLSearchParams(location.search).get("room") ?? "";
  const join = async ({ word: typed, name }) => {
    const path = `/${encodeURIComponent(typed.trim() || "-")}/join`;
    sit(await send(path, "", { name }));
  };
  shown = "";
  fill("join", () => [
    el("h1", {}, "Join your class"),
    ...(why ? [el("p", { class: "bx-error", role: "alert" }, why)] : []),
    form([
      field("The word on the board", "word", { value: word, required: "", placeholder: "blue otter", maxlength: "40" }),
      field("A nickname, not your name", "name", { maxlength: "16", placeholder: "or leave it to chance" }),
    ], "Join", join),
    say("Everybody in the room sees your nickname, and your answers when they are shown. Your teacher may save them under your nickname; when the room closes, nothing else is kept. Whoever leaves takes their answers along."),
  ]);
}

function sit(taken) {
  seat = taken;
  keepSeat(seat);
  state = null;
  letGo = "";
  drawn = "";
  stop();
  stop = listen(seat.word, seat.token, { heard, lost, over });
  fill("waiting", () => [say("One moment…")]);
}

function over(why) {
  keepSeat(null);
  removeFrame();
  ask(why);
}

function lost(now) {
  document.body.toggleAttribute("data-lost", now);
}

// ---- The room's current activity.

function heard(told) {
  state = told;
  if (letGo === "exercise" && !state.exercise) again();
  else draw();
}

function draw() {
  head();
  const busy = state.round || state.teaching;
  if (free) free.hidden = Boolean(busy) || !letGo;
  main.hidden = Boolean(free && !free.hidden);
  if (state.round) return drawRound(state.round);
  if (state.teaching) return drawTeaching(state.teaching);
  if (state.exercise && !letGo) return drawExercise(state.exercise);
  if (state.follow && !letGo) return follow(state.follow);
  if (main.hidden) return;
  fill("lobby", () => [
    el("h1", {}, "You are in."),
    el("p", {}, "Look at the board. What comes next appears here by itself."),
  ]);
}

function head() {
  const points = el("span", { class: "bx-points" }, `${state.points} ${state.points === 1 ? "point" : "points"}`);
  const leave = button("Leave", async () => {
    await act("leave").catch(() => {});
    stop();
    over("You have left the room.");
  });
  const following = (state.follow || state.exercise) && !state.round && !state.teaching;
  const back = button(state.exercise ? "Back to the room" : "Follow again", again);
  const go = following && (letGo ? back : state.exercise ? null : button("Explore by yourself", () => explore("explore", `./?${query}`)));
  bar.hidden = false;
  bar.replaceChildren(el("b", {}, state.name), points, el("span", { class: "bx-lost", role: "status" }, "The line is broken; one moment…"), ...(go ? [go] : []), leave);
}

// ---- Following the teacher, until the person explores by themselves.

const view = el("div", { class: "bx-shown" }); // what the teacher shows, also below the question of a lesson
let query = ""; // of that
let drawn = ""; // its number, and the part of it that is shown

function follow(number) {
  fill("follow", () => [view]);
  picture(number);
}

// Draw it: all of it, or only the part that a lesson's question is about, by its element id on the teacher's page.
async function picture(number, point = "") {
  const mine = `${number} ${point}`;
  if (drawn === mine) return;
  drawn = mine;
  view.toggleAttribute("data-stale", true);
  let side;
  try {
    const answer = await fetch(`bx/rooms/${seat.word}/shown`, { headers: { Authorization: `Bearer ${seat.token}` } });
    if (answer.status === 403 || answer.status === 404) return; // the next message says what is shown instead
    if (!answer.ok) throw new Error(String(answer.status));
    side = await answer.json();
  } catch {
    drawn = "";
    setTimeout(() => seat && state && draw(), 2000); // the server was busy, or the connection broke
    return;
  }
  if (drawn !== mine) return; // something newer is shown
  query = side.query;
  await drawSides(view, [point ? only(side, point) : side]);
  view.toggleAttribute("data-stale", false);
}

// The input, and of the views the part that has this id; where none has, all of them.
function only(side, id) {
  const part = side.views.flatMap((one) => one.parts.filter(({ name }) => `${one.name.replace("/", "-")}-${name}` === id).map((found) => ({ ...one, parts: [found] })));
  const covered = side.views.every((one) => !one.parts.length);
  const views = id === "strip" || covered ? [] : part.length ? part : side.views;
  return { ...side, question: "", finding: "", made: "", views: views.map((one) => ({ ...one, heading: "", note: "" })) };
}

function explore(why, address) {
  letGo = why;
  if (!free) {
    free = el("iframe", { title: "BERT Explorer", src: address });
    document.body.append(free);
  }
  draw();
}

function again() {
  letGo = "";
  removeFrame();
  draw();
}

// ---- An exercise, which is done on the page itself; its panel reports what was solved.

function drawExercise({ name, lesson, asks, query: begins, done }) {
  fill(`exercise ${name} ${done}`, () => {
    const task = text(`<p>${asks}</p>`);
    const go = button(done ? "Do it once more" : "Do it", () => explore("exercise", `./?${begins}#exercise=${name}`), { class: "bx-main" });
    return [el("h1", {}, "Make it so"), say(`Lesson ${lesson}`), task, ...(done ? [el("p", { class: "bx-mine" }, "✓ You have done it.")] : []), go];
  });
}

function removeFrame() {
  free?.remove();
  free = null;
  main.hidden = false;
}

// ---- A round.

function drawRound(round) {
  const { number, open, revealed, until = 0, guess = "" } = round;
  const lesson = round.kind === "lesson";
  if (lesson && state.follow) picture(state.follow, round.point);
  fill(`round ${number} ${open} ${revealed} ${Math.round(until / 1000)} ${guess} ${Boolean(state.follow)}`, () => [
    el("h1", {}, round.asks, left(round)),
    ...(lesson ? [text(round.text)] : round.kind === "target" ? [] : texts(round)),
    ...(lesson && revealed ? solution(round) : revealed ? answer(round) : open ? asking(round) : closed(round)),
    ...(lesson && state.follow ? [view] : []),
  ]);
}

// Text of a lesson: from the app's own files, Markdown without HTML.
function text(html) {
  const made = el("div", { class: "bx-lesson-text" });
  made.innerHTML = html;
  return made;
}

function closed(round) {
  const mine = round.guess ? el("p", { class: "bx-mine" }, "Your answer: ", el("b", {}, round.guess), ".") : say("You did not answer this time.");
  return [mine, say("No more answers are taken; look at the board.")];
}

// A lesson's answer.
function solution(round) {
  const options = round.options.map((one) => {
    const kind = one === round.right ? "bx-right" : one === round.guess ? "bx-wrong" : "";
    return el("li", { class: kind || null }, one, kind ? el("b", {}, kind === "bx-right" ? "✓" : "✗") : null);
  });
  const verdict = round.guess ? text(`<p><b>${round.guess === round.right ? "Yes." : "Not quite."}</b> ${round.feedback}</p>`) : say("You did not answer this time.");
  return [el("ol", { class: "bx-solution" }, ...options), verdict, text(round.after)];
}

function asking(round) {
  const mine = round.guess ? [el("p", { class: "bx-mine" }, "Your guess: ", el("b", {}, round.guess), ". You may change it until the answers are shown.")] : [];
  if (!round.options.length) {
    return [form([field("One word", "guess", { maxlength: "30", required: "" })], round.guess ? "Change it" : "Guess", (values) => act("guess", values), ["guess"]), ...mine];
  }
  const wrong = el("p", { class: "bx-error", role: "alert" });
  const options = round.options.map((text, index) => {
    const asks = round.kind === "target" && index === round.asked;
    const chosen = round.guess === text || round.guess === `${text} (${index})`;
    return button(text, async () => {
      wrong.textContent = "";
      await act("guess", { guess: String(index) }).catch((error) => (wrong.textContent = error.message));
    }, { class: asks ? "bx-option bx-asks" : "bx-option", "aria-pressed": String(chosen) });
  });
  return [el("div", { class: round.kind === "target" ? "bx-options bx-row" : "bx-options" }, ...options), wrong, ...mine];
}

function answer(round) {
  const top = Math.max(...round.best.map(([, share]) => share));
  const bars = round.best.map(([name, share]) =>
    el("li", { class: name === round.guess ? "bx-right" : null }, el("span", {}, name), el("i", { style: `width:${(100 * share) / top}%` }), el("em", {}, percent(share))));
  return [el("h2", {}, "BERT’s answer"), el("ol", { class: "bx-best" }, ...bars), verdict(round)];
}

function verdict({ guess, rank, share, earned }) {
  if (!guess) return say("You did not guess this time.");
  const how = rank == null ? "is no single piece of BERT’s vocabulary, so it cannot be its answer" : rank === 1 ? "is BERT’s first answer" : `is number ${rank.toLocaleString("en")} for BERT (${percent(share)})`;
  return el("p", { class: "bx-mine" }, el("b", {}, guess), ` ${how}: ${earned} ${earned === 1 ? "point" : "points"}.`);
}

// ---- Teaching a head together.

function drawTeaching(taught) {
  const { labels, mine, trained, tries } = taught;
  const key = `teaching ${JSON.stringify([labels, mine, taught.busy, trained, tries])}`;
  fill(key, () => (trained ? fooling(taught) : adding(taught)));
}

const choose = (labels) => el("fieldset", {}, el("legend", {}, "What is it?"), ...labels.map((label) =>
  el("label", { class: "bx-choice" }, el("input", { type: "radio", name: "label", value: label, required: "" }), label)));

const sentence = (label) => el("label", {}, label, el("textarea", { name: "text", rows: "2", maxlength: "200", required: "" }));

function adding({ labels, each, mine, busy }) {
  const rows = mine.map((one) =>
    el("li", {}, el("b", {}, one.label), ` ${one.text} `, button("take back", () => act("take-back", { number: one.number }).catch(() => {}), { class: "bx-small" })));
  const full = labels.every((label) => mine.filter((one) => one.label === label).length >= each);
  return [
    el("h1", {}, "Teach BERT together"),
    el("p", {}, `Give ${each} examples of each: ${labels.join(", ")}. The head learns from everybody’s.`),
    ...(busy ? [say("It is being trained…")] : full ? [say("Thank you; wait for the others.")] : [form([sentence("A sentence of your own"), choose(labels)], "Add", (values) => act("example", values), ["text"])]),
    el("ul", { class: "bx-given" }, ...rows),
  ];
}

function fooling({ labels, tries, left }) {
  const rows = [...tries].reverse().map((one) =>
    el("li", { class: one.fooled ? "bx-right" : null }, one.text, el("br"), `BERT says ${one.answer} (${percent(one.share)}), you mean ${one.meant}: `, el("b", {}, one.fooled ? "fooled!" : "not fooled")));
  return [
    el("h1", {}, "Fool it"),
    el("p", {}, "Write a sentence whose label everybody would agree on, and which the head gets wrong."),
    ...(left > 0 ? [form([sentence(`A sentence; ${left} ${left === 1 ? "try" : "tries"} left`), choose(labels)], "Try", (values) => act("try", values), ["text"])] : [say("You have had all your tries.")]),
    el("ul", { class: "bx-given" }, ...rows),
  ];
}

// ---- Take the old seat again, unless the link is for another room.

const before = keptSeat();
const invited = new URLSearchParams(location.search).get("room");
if (before?.token && (!invited || invited === before.word)) sit(before);
else ask();
