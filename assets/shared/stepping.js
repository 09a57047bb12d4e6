// A bar that walks through the steps of a picture: by hand, by keyboard, or by itself, but never for people who asked for no motion.
import { along } from "../arithmetic/moves.js";
import { el } from "./dom.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * @param {() => number} picture.count the number of steps
 * @param {(at: number) => void} picture.show draw a step, counted from 0
 * @param {(at: number) => number} picture.pause how long a step stays while it plays, in ms
 * @param {() => [string, number][]} [picture.parts] titles with the first step of each, which can be jumped to
 * @param {string} [picture.label] what the bar is for
 * @returns {{root: HTMLElement, stop: () => void, start: () => void, renew: (first?: number) => void, at: () => number}} `root` goes into the picture;
 *   `renew` is called when the steps or their titles have changed, with the step to begin at
 */
export function stepping({ count, show, pause, parts = () => [], label = "Step by step" }) {
  const play = el("button", { type: "button", class: "bx-step-play" });
  const back = el("button", { type: "button", "aria-label": "Step back" }, "‹");
  const on = el("button", { type: "button", "aria-label": "Step forward" }, "›");
  const jump = el("select", { "aria-label": "Go to a part" });
  const where = el("span", { class: "bx-step-where" });
  const root = el("div", { class: "bx-stepping", role: "toolbar", "aria-label": label }, play, back, jump, on, where);
  let at = 0;
  let timer = 0;

  function titles() {
    const named = parts();
    return named.length && named[0][1] > 0 ? [["Start", 0], ...named] : named;
  }

  function tell() {
    play.textContent = timer ? "❚❚" : "▶";
    play.setAttribute("aria-label", timer ? "Pause" : "Play");
    play.hidden = still.matches;
    back.disabled = at <= 0;
    on.disabled = at >= count() - 1;
    where.textContent = count() ? `${at + 1} of ${count()}` : "";
    jump.selectedIndex = titles().findLastIndex(([, first]) => first <= at);
  }

  function go(to) {
    at = Math.max(0, Math.min(count() - 1, to));
    show(at);
    tell();
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    tell();
  }

  function next() {
    if (!root.isConnected || still.matches || at >= count() - 1) return stop();
    go(at + 1);
    timer = setTimeout(next, pause(at));
    tell();
  }

  function start() {
    if (at >= count() - 1) go(0);
    timer = setTimeout(next, pause(at));
    tell();
  }

  function renew(first = 0) {
    stop();
    jump.replaceChildren(...titles().map(([title, step]) => el("option", { value: step }, title)));
    jump.hidden = !jump.options.length;
    go(first);
  }

  root.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    if (button === play) return timer ? stop() : start();
    stop();
    go(button === back ? at - 1 : at + 1);
  });
  jump.addEventListener("change", () => {
    const to = Number(jump.value); // stopping sets it back
    stop();
    go(to);
  });
  root.addEventListener("keydown", (event) => {
    const to = event.target === jump ? -1 : along(event, at, count());
    if (to < 0) return;
    event.preventDefault();
    event.stopPropagation(); // presenting would step through the heads
    stop();
    go(to);
  });
  still.addEventListener("change", stop);
  return { root, stop, renew, start: () => still.matches || start(), at: () => at };
}
