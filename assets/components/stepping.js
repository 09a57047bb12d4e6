// A bar that walks through the steps of a picture: by hand, by keyboard, or by itself, but never for people who asked for no motion.
BertExplorer.stepping = (() => {
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // `count()` is the number of steps, `show(at)` draws the step `at`, from 0, `pause(at)` is how long it stays, in ms, when it
  // plays; `parts()` are [title, first step] of what can be jumped to. Returns { root, go, stop, at }; `root` goes into the picture.
  return function stepping({ count, show, pause, parts = () => [], label = "Step by step" }) {
    const { el } = BertExplorer;
    const play = el("button", { type: "button", class: "bx-step-play" });
    const back = el("button", { type: "button", class: "bx-step-back", "aria-label": "Step back" }, "‹");
    const on = el("button", { type: "button", class: "bx-step-on", "aria-label": "Step forward" }, "›");
    const jumps = el("span", { class: "bx-step-parts" });
    const where = el("span", { class: "bx-step-where" });
    const root = el("div", { class: "bx-stepping", role: "toolbar", "aria-label": label }, play, back, on, jumps, where);
    let at = 0;
    let timer = 0;

    function tell() {
      play.textContent = timer ? "❚❚" : "▶";
      play.setAttribute("aria-label", timer ? "Pause" : "Play");
      play.hidden = still.matches;
      back.disabled = at <= 0;
      on.disabled = at >= count() - 1;
      where.textContent = count() ? `${at + 1} of ${count()}` : "";
      const open = parts().findLastIndex(([, first]) => first <= at);
      [...jumps.children].forEach((button, index) => button.setAttribute("aria-pressed", String(index === open)));
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

    // After the number of steps or their titles changed.
    function renew(first = 0) {
      stop();
      jumps.replaceChildren(...parts().map(([title, step]) => el("button", { type: "button", "data-step": step }, title)));
      go(first);
    }

    root.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      if (button === play) return timer ? stop() : start();
      stop();
      go(button === back ? at - 1 : button === on ? at + 1 : Number(button.dataset.step));
    });
    root.addEventListener("keydown", (event) => {
      const to = BertExplorer.along(event, at, count());
      if (to < 0) return;
      event.preventDefault();
      event.stopPropagation(); // presenting would step through the heads
      stop();
      go(to);
    });
    still.addEventListener("change", stop);
    return { root, go, stop, renew, at: () => at };
  };
})();
