// The page on a phone: it joins a room and shows the teacher's activity: follow, guess, teach.
import { button, el } from "../shared/dom.js";
import { keepSeat, keptSeat } from "../shared/seat.js";
import { followSystem } from "../shared/system_theme.js";
import { following, picture } from "./join_following.js";
import { drawRound } from "./join_rounds.js";
import { drawTeaching } from "./join_teaching.js";
import { listen, send } from "./news.js";
import { act, field, fill, form, lessonText, main, phone, say } from "./phone.js";

const bar = document.getElementById("seat");
let stop = () => {}; // ends the listening

// ---- Joining.

function ask(why = "") {
  phone.seat = null;
  bar.hidden = true;
  const word = new URLSearchParams(location.search).get("room") ?? "";
  const join = async ({ word: typed, name }) => {
    const path = `/${encodeURIComponent(typed.trim() || "-")}/join`;
    sit(await send(path, "", { name }));
  };
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
  keepSeat(taken);
  following.drawn = "";
  stop();
  stop = listen(taken.word, taken.token, { heard, lost, over });
  fill("waiting", () => [say("One moment…")]);
}

function over(why) {
  keepSeat(null);
  ask(why);
}

function lost(now) {
  document.body.toggleAttribute("data-lost", now);
}

// ---- The room's current activity.

function heard(state) {
  phone.state = state;
  draw();
}

function draw() {
  head();
  const { exercise, follow, round, teaching } = phone.state;
  if (round) return drawRound(round);
  if (teaching) return drawTeaching(teaching);
  if (exercise) return drawExercise(exercise);
  if (follow) {
    fill("follow", () => [following.view]);
    return picture(follow);
  }
  fill("lobby", () => [
    el("h1", {}, "You are in."),
    el("p", {}, "Look at the board. The next question appears here automatically."),
  ]);
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
    el("span", { class: "bx-lost", role: "status" }, "The line is broken; one moment…"), ...(go ? [go] : []), leave);
}

// An exercise is done on the page itself; its panel reports what was solved.
function drawExercise({ name, lesson, asks, query, done }) {
  fill(`exercise ${name} ${done}`, () => {
    const go = pageLink(done ? "Do it once more" : "Do it", `${query}#exercise=${name}`, "bx-main");
    return [el("h1", {}, "Make it so"), say(`Lesson ${lesson}`), lessonText(`<p>${asks}</p>`), ...(done ? [el("p", { class: "bx-mine" }, "✓ You have done it.")] : []), go];
  });
}

// The app itself, beside this page, which goes on listening to the room.
function pageLink(label, query, look = null) {
  return el("a", { href: `./?${query}`, target: "_blank", rel: "noopener", class: look }, label);
}

// ---- Take the old seat again, unless the link is for another room.

followSystem();
document.addEventListener("bert:room", draw);
const before = keptSeat();
const invited = new URLSearchParams(location.search).get("room");
if (before?.token && (!invited || invited === before.word)) sit(before);
else ask();
