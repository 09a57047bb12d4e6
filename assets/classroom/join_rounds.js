// A round on a phone: the question, the person's guess, and BERT's answer or the lesson's.
import { percent } from "../arithmetic/numbers.js";
import { button, el } from "../shared/dom.js";
import { following, picture } from "./join_following.js";
import { act, field, fill, form, lessonText, phone, say } from "./phone.js";
import { texts } from "./question.js";

export function drawRound(round) {
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
  return [mine, say("No more answers are taken; look at the board.")];
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
  const bars = round.best.map(([name, share]) =>
    el("li", { class: name === round.guess ? "bx-right" : null }, el("span", {}, name), el("i", { style: `width:${(100 * share) / top}%` }), el("em", {}, percent(share))));
  return [el("h2", {}, "BERT’s answer"), el("ol", { class: "bx-best" }, ...bars), verdict(round)];
}

function verdict({ guess, rank, share, earned }) {
  if (!guess) return say("You did not guess this time.");
  const how = rank == null ? "is not a single piece of BERT’s vocabulary, so BERT cannot answer it" : rank === 1 ? "is BERT’s first answer" : `is number ${rank.toLocaleString("en")} for BERT (${percent(share)})`;
  return el("p", { class: "bx-mine" }, el("b", {}, guess), ` ${how}: ${earned} ${earned === 1 ? "point" : "points"}.`);
}
