// The page on a phone: it joins a room and shows the teacher's activity: follow, guess, teach.
import { percent } from "../arithmetic/labels.js";
import { draw as drawSides } from "../file/sides.js";
import { ask } from "../shared/asking.js";
import { button, el, ours } from "../shared/dom.js";
import { SEAT, store, stored } from "../shared/storage.js";
import { followSystem } from "../shared/theme.js";
import { listen, send } from "./news.js";
import { bars, texts } from "./question.js";

// `state` is the room's last message to this seat; `main` what the page shows, to fill it only when that changes.
const phone = { seat: null, state: null, shown: "" };

const main = document.querySelector("main");
const bar = document.getElementById("seat");
let stop = () => {}; // ends the listening

const say = (text) => el("p", { class: "bx-quiet" }, text);

// Do something in the room. Throws an error whose message is a sentence to show.
const act = (action, body) => send(`/${phone.seat.word}/${action}`, phone.seat.token, body);

// Build the page once for each `key`; typed text stays.
function fill(key, build) {
  if (phone.shown === key) return;
  const typed = new Map([...main.querySelectorAll("input:not([type=radio]), textarea")].map((one) => [one.name, one.value]));
  const focus = document.activeElement?.name;
  phone.shown = key;
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
    const values = Object.fromEntries(new FormData(made));
    for (const name of clears) made.elements[name].value = "";
    await send(values).catch((error) => {
      for (const name of clears) made.elements[name].value ||= values[name]; // keep what was typed
      wrong.textContent = error.message;
    });
    submit.disabled = false;
  });
  return made;
}

const field = (label, name, more = {}) => el("label", {}, label, el("input", { name, autocomplete: "off", autocapitalize: "off", spellcheck: "false", ...more }));

const lessonText = (html) => ours("div", { class: "bx-lesson-text" }, html);

// ---- Joining.

function enter(why = "") {
  phone.seat = null;
  bar.hidden = true;
  const word = new URLSearchParams(location.search).get("room") ?? "";
  const join = async ({ word: typed, name }) => sit(await send(`/${encodeURIComponent(typed.trim() || "-")}/join`, "", { name }));
  phone.shown = "";
  fill("join", () => [
    el("h1", {}, "Join your class"),
    ...(why ? [el("p", { class: "bx-error", role: "alert" }, why)] : []),
    form([
      field("The word on the board", "word", { value: word, required: "", placeholder: "quick blue otter", maxlength: "40" }),
      field("A nickname, not your name", "name", { maxlength: "16", placeholder: "or leave it to chance" }),
    ], "Join", join),
    say("Everyone in the room sees your nickname, and your answers when they are shown. Your teacher may save them under your nickname; when the room closes, nothing else is kept. If you leave, your answers go too."),
  ]);
}

function sit(taken) {
  Object.assign(phone, { seat: taken, state: null });
  store(SEAT, taken);
  following.drawn = "";
  stop();
  stop = listen(taken.word, taken.token, { heard: draw, lost: (now) => document.body.toggleAttribute("data-lost", now), over });
  fill("waiting", () => [say("One moment…")]);
}

function over(why) {
  store(SEAT, null);
  enter(why);
}

// ---- The room's current activity.

function draw(state = phone.state) {
  phone.state = state;
  head();
  const { exercise, follow, round, teaching } = phone.state;
  if (round) return drawRound(round);
  if (teaching) return drawTeaching(teaching);
  if (exercise) return drawExercise(exercise);
  if (follow) {
    fill("follow", () => [following.view]);
    return picture(follow);
  }
  fill("lobby", () => [el("h1", {}, "You are in."), el("p", {}, "Look at the board. The next question appears here automatically.")]);
}

function head() {
  const { exercise, follow, name, points, round, teaching } = phone.state;
  const leave = button("Leave", async () => {
    await act("leave").catch(() => {});
    stop();
    over("You have left the room.");
  });
  const go = follow && !round && !teaching && !exercise && pageLink("Explore by yourself", following.query);
  bar.hidden = false;
  bar.replaceChildren(el("b", {}, name), el("span", { class: "bx-points" }, `${points} ${points === 1 ? "point" : "points"}`),
    el("span", { class: "bx-lost", role: "status" }, "Connection lost. Reconnecting…"), ...(go ? [go] : []), leave);
}

// An exercise is done on the page itself; its panel reports what was solved.
function drawExercise({ name, lesson, asks, query, done }) {
  fill(`exercise ${name} ${done}`, () => {
    const go = pageLink(done ? "Do it once more" : "Do it", `${query}#exercise=${name}`, "bx-main");
    return [el("h1", {}, "Make it so"), say(`Lesson ${lesson}`), lessonText(`<p>${asks}</p>`), ...(done ? [el("p", { class: "bx-mine" }, "✓ You have done it.")] : []), go];
  });
}

// The app itself, beside this page, which goes on listening to the room.
const pageLink = (label, query, look = null) => el("a", { href: `./?${query}`, target: "_blank", rel: "noopener", class: look }, label);

// ---- What the teacher's page shows: all of it, or only what a lesson's question is about.

// `drawn` is the number of what the teacher shows, and the part of it that is drawn.
const following = { view: el("div", { class: "bx-shown" }), query: "", drawn: "" };

// Draw what has this number into the view; with `point`, an element id on the teacher's page, that part only.
async function picture(number, point = "") {
  const { view } = following;
  const mine = `${number} ${point}`;
  if (following.drawn === mine) return;
  following.drawn = mine;
  view.toggleAttribute("data-stale", true);
  const side = await ask(`bx/rooms/${phone.seat.word}/shown`, phone.seat).catch(({ status }) => {
    if (status === 403 || status === 404) return; // the next message says what is shown instead
    following.drawn = "";
    setTimeout(() => phone.seat && phone.state && draw(), 2000); // the server was busy, or the connection broke
  });
  if (!side || following.drawn !== mine) return; // something newer is shown
  following.query = side.query;
  draw(); // the link to it
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

// ---- A round.

function drawRound(round) {
  const { number, open, revealed, guess = "" } = round;
  const { follow } = phone.state;
  const lesson = round.kind === "lesson";
  if (lesson && follow) picture(follow, round.point);
  fill(`round ${number} ${open} ${revealed} ${guess} ${Boolean(follow)}`, () => [
    el("h1", {}, round.asks),
    ...(lesson ? [lessonText(round.text)] : round.kind === "target" ? [] : texts(round)),
    ...(lesson && revealed ? solution(round) : revealed ? answer(round) : open ? asking(round) : closed(round)),
    ...(lesson && follow ? [following.view] : []),
  ]);
}

function closed(round) {
  const mine = round.guess ? el("p", { class: "bx-mine" }, "Your answer: ", el("b", {}, round.guess), ".") : say("You did not answer this time.");
  return [mine, say("This question is closed. Look at the board.")];
}

// A lesson's answer.
function solution(round) {
  const options = round.options.map((one) => {
    const kind = one === round.right ? "bx-right" : one === round.guess ? "bx-wrong" : "";
    return el("li", { class: kind || null }, one, kind ? el("b", {}, kind === "bx-right" ? "✓" : "✗") : null);
  });
  const verdict = round.guess ? lessonText(`<p><b>${round.guess === round.right ? "Yes." : "Not quite."}</b> ${round.feedback}</p>`) : say("You did not answer this time.");
  return [el("ol", { class: "bx-solution" }, ...options), verdict, lessonText(round.after)];
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
  const rows = round.best.map(([name, share]) => ({ name, share: share / top, told: percent(share), right: name === round.guess }));
  return [el("h2", {}, "BERT’s answer"), bars("bx-best", rows), verdict(round)];
}

function verdict({ guess, rank, share, earned }) {
  if (!guess) return say("You did not guess this time.");
  const how = rank == null ? "is not a single piece of BERT’s vocabulary, so BERT cannot answer it" : rank === 1 ? "is BERT’s first answer" : `is number ${rank.toLocaleString("en")} for BERT (${percent(share)})`;
  return el("p", { class: "bx-mine" }, el("b", {}, guess), ` ${how}: ${earned} ${earned === 1 ? "point" : "points"}.`);
}

// ---- A head that the class teaches together.

function drawTeaching(taught) {
  const { labels, mine, busy, trained, tries } = taught;
  fill(`teaching ${JSON.stringify([labels, mine, busy, trained, tries])}`, () => (trained ? fooling(taught) : adding(taught)));
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
    ...(busy ? [say("It is being trained…")] : full ? [say("Thank you. Wait for the others.")] : [form([sentence("Your own sentence"), choose(labels)], "Add", (values) => act("example", values), ["text"])]),
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

followSystem();
const before = stored(SEAT);
const invited = new URLSearchParams(location.search).get("room");
if (before?.token && (!invited || invited === before.word)) sit(before);
else enter();
