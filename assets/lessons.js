// Lessons beside the page: each step sets texts and view, points at an element, asks, and explains after the answer.
import { showIn } from "./answers.js";
import { exercise, exercisesOf } from "./exercises.js";
import { markTerms } from "./glossary/terms.js";
import { visit } from "./link.js";
import { markSpot, unmark } from "./page/spots.js";
import { exerciseIn } from "./shared/checking.js";
import { store, stored } from "./shared/storage.js";

window.BertLessons = {
  ADDRESS: "bx/lessons.json",
  SHEETS: { handout: "Hand-out", teacher: "Teacher’s sheet" }, // to print
  KEPT: "bert-lessons", // key in localStorage: { name: { at, answers: { step: option } } }
  PATIENCE: 20_000, // ms of an idle page after which we stop waiting for the element to point at
  FAILED: "The lessons could not be fetched; try again in a moment.",
  lessons: null,
  box: null, // the panel while it is open
  now: null, // [lesson, number from 0] of the step in it
  opener: null, // gets the focus back when the panel closes
  covering: "", // the id of what to cover, set before the element exists
  ABOVE: 14, // px between the bar and what is pointed at
  turn: 0, // counts the pointings: a newer one ends the wait of an older one

  // ---- What the browser keeps.

  progress() {
    return stored(this.KEPT) ?? {};
  },

  keep(name, at, answers) {
    store(this.KEPT, { ...this.progress(), [name]: { at, answers } });
  },

  // ---- The panel.

  async toggle() {
    if (this.box) this.close();
    else await this.open();
  },

  // Open it, at a step if one is named; `stays` leaves the page as it is.
  async open(at = "", stays = false) {
    const { el } = BertExplorer;
    if (!this.box) {
      this.opener = document.activeElement;
      this.box = el("aside", { id: "lessons", "aria-labelledby": "lessons-title", tabindex: "-1" });
      document.body.append(this.box);
      document.body.dataset.lessons = "open";
      document.getElementById("open-lessons")?.setAttribute("aria-expanded", "true");
      this.box.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    }
    try {
      this.lessons ??= (await (await fetch(this.ADDRESS)).json()).lessons;
    } catch {
      this.lessons = null;
    }
    if (!this.box) return; // closed meanwhile
    if (!this.lessons) {
      this.fill(this.head("Lessons"), el("p", { role: "alert" }, this.FAILED));
      return;
    }
    const [name, step] = at.split(".");
    const lesson = this.lessons.find((one) => one.name === name);
    if (lesson) this.show(lesson, Math.min(lesson.steps.length, Math.max(1, Number(step) || 1)) - 1, stays);
    else this.list();
  },

  close() {
    this.leave();
    this.point(null);
    this.box?.remove();
    this.box = null;
    delete document.body.dataset.lessons;
    const button = document.getElementById("open-lessons");
    button?.setAttribute("aria-expanded", "false");
    (this.opener?.isConnected ? this.opener : button)?.focus();
  },

  fill(...parts) {
    this.box.replaceChildren(...parts);
    this.box.scrollTop = 0;
    this.box.focus({ preventScroll: true });
  },

  // With `lesson`, an open lesson, the head has a way back and links to its sheets.
  head(title, lesson) {
    const { el } = BertExplorer;
    const close = el("button", { type: "button", class: "bx-lesson-close", "aria-label": "Close the lessons" }, "×");
    close.addEventListener("click", () => this.close());
    const out = lesson ? el("button", { type: "button", class: "bx-lesson-out" }, "‹ All lessons") : null;
    out?.addEventListener("click", () => this.list());
    const mine = Object.entries(this.SHEETS).filter(([sheet]) => sheet === "handout" || BertRoom.room); // answers are for teachers
    const sheets = lesson ? mine.map(([sheet, label]) => this.sheet(lesson, sheet, label)) : [];
    return el("header", {}, out, ...sheets, close, el("h2", { id: "lessons-title" }, title));
  },

  sheet(lesson, sheet, label) {
    const href = `bx/lessons/${encodeURIComponent(lesson.name)}/${sheet}.html`;
    return BertExplorer.el("a", { href, target: "_blank", rel: "noopener" }, label);
  },

  // No step is shown any more.
  leave() {
    this.now = null;
    BertClass.leave();
  },

  // Show the step once more: who is asked has changed.
  again() {
    if (this.now) this.show(...this.now);
  },

  list() {
    const { el } = BertExplorer;
    this.leave();
    this.point(null);
    const progress = this.progress();
    const items = this.lessons.map((lesson) => {
      const been = progress[lesson.name]?.at ?? -1;
      const steps = lesson.steps.length;
      const how = been < 0 ? `${lesson.minutes ? `${lesson.minutes} min, ` : ""}${steps} steps` : been >= steps ? "✓ done" : `at ${been + 1} of ${steps}`;
      const { all, done } = exercisesOf(lesson);
      const solved = done ? ` · exercise${all > 1 ? ` ${done} of ${all}` : ""} ✓` : "";
      const button = el("button", { type: "button" }, el("b", {}, `${lesson.number} · ${lesson.title}`), el("small", {}, how + solved), el("span", {}, lesson.about));
      button.addEventListener("click", () => this.show(lesson, been >= steps ? 0 : Math.max(0, been)));
      return el("li", {}, button);
    });
    const about = "Each lesson sets the page for you and asks you to guess before it tells. Change what you like on the way.";
    this.fill(this.head("Lessons"), el("p", { class: "bx-lesson-about" }, about), BertRoom.entry(), el("ol", { class: "bx-lesson-list" }, ...items));
  },

  // ---- A step.

  show(lesson, at, stays = false) {
    const { el } = BertExplorer;
    const step = lesson.steps[at];
    const answers = this.progress()[lesson.name]?.answers ?? {};
    this.keep(lesson.name, at, answers);
    const before = el("div", { class: "bx-lesson-text", lang: lesson.language });
    before.innerHTML = step.before; // from our own files: Markdown without HTML
    const rest = el("div", { class: "bx-lesson-rest", "aria-live": "polite", lang: lesson.language });
    const tell = (chosen) => this.tell(rest, lesson, at, chosen);
    this.fill(this.head(`${lesson.number} · ${lesson.title}`, lesson), this.where(lesson, at), el("h3", { lang: lesson.language }, step.title), before, BertClass.round(step), rest, exercise(step, lesson.language), BertClass.exercise(step), this.steps(lesson, at));
    markTerms(before);
    this.now = [lesson, at];
    const asked = BertClass.asks(lesson, at);
    const told = !asked && (answers[at] !== undefined || BertClass.has(lesson, at) || (!step.options.length && !step.after));
    if (stays) requestAnimationFrame(() => this.box?.querySelector(".bx-exercise")?.scrollIntoView({ block: "nearest" })); // below all else
    else visit(step.query);
    this.point(step.point, told ? "" : step.cover, step.spot);
    if (asked) return BertClass.take(lesson, at, rest, tell);
    BertClass.leave();
    if (told) return tell(answers[at]);
    this.ask(rest, step, (chosen) => {
      this.keep(lesson.name, at, { ...this.progress()[lesson.name]?.answers, [at]: chosen });
      tell(chosen);
      rest.scrollIntoView({ block: "nearest" }); // in the panel
    });
  },

  where(lesson, at) {
    const { el } = BertExplorer;
    const dots = lesson.steps.map((_, index) => el("i", { class: index < at ? "bx-past" : index === at ? "bx-now" : null }));
    return el("p", { class: "bx-lesson-where" }, el("span", { "aria-hidden": "true" }, ...dots), `Step ${at + 1} of ${lesson.steps.length}${lesson.steps[at].minutes ? `, ${lesson.steps[at].minutes} min` : ""}`);
  },

  ask(rest, step, choose) {
    const { el } = BertExplorer;
    const answers = step.options.length ? step.options.map((one) => one.text) : ["Show"];
    const buttons = answers.map((text, index) => {
      const button = el("button", { type: "button", class: "bx-lesson-option" }, text);
      button.addEventListener("click", () => choose(step.options.length ? index : 0));
      return button;
    });
    rest.replaceChildren(...buttons);
  },

  tell(rest, lesson, at, chosen) {
    const { el } = BertExplorer;
    const step = lesson.steps[at];
    const option = step.options[chosen];
    const shown = step.options.map((one, index) => {
      const sign = one.right ? "✓" : index === chosen ? "✗" : "";
      const kind = one.right ? "bx-right" : index === chosen ? "bx-wrong" : "";
      return el("p", { class: `bx-lesson-option ${kind}` }, one.text, sign ? el("b", {}, sign) : null);
    });
    const feedback = el("p", { class: "bx-lesson-feedback" });
    if (option) feedback.innerHTML = `<b>${option.right ? "Yes." : "Not quite."}</b> ${option.feedback}`;
    const after = el("div", { class: "bx-lesson-text" });
    after.innerHTML = step.after;
    rest.replaceChildren(...shown, ...(option ? [feedback] : []), after);
    for (const text of [feedback, after]) markTerms(text, this.box);
    if (at === lesson.steps.length - 1) rest.append(el("p", { class: "bx-lesson-sources" }, `Sources: ${lesson.sources.join("; ")}.`));
    if (!step.cover) return;
    this.point(step.point, "", step.spot);
    showIn(this.element(step.cover)); // the user asked for it
  },

  steps(lesson, at) {
    const { el } = BertExplorer;
    const back = el("button", { type: "button", disabled: at === 0 ? "" : null }, "‹ Back");
    back.addEventListener("click", () => this.show(lesson, at - 1));
    const last = at === lesson.steps.length - 1;
    const next = el("button", { type: "button", class: "bx-lesson-next" }, last ? "Done" : "Next ›");
    next.addEventListener("click", () => (last ? this.end(lesson) : this.show(lesson, at + 1)));
    return el("nav", { "aria-label": "Steps" }, back, next);
  },

  end(lesson) {
    this.keep(lesson.name, lesson.steps.length, this.progress()[lesson.name]?.answers ?? {});
    this.list();
  },

  // ---- Pointing at an element of the page, once it is there and drawn.

  // The element that a lesson's id names: "view" is everything in the open tab.
  element(id) {
    const views = [...document.querySelectorAll("#tabs [role=tabpanel] .view")];
    return id === "view" ? views.find((one) => one.offsetParent) : document.getElementById(id);
  },

  // Cover this element, if any, and no other: while the page is on its way, "view" may belong to the previous tab.
  cover(element) {
    for (const one of document.querySelectorAll("[data-covered]")) {
      if (one === element) return;
      delete one.dataset.covered;
      one.inert = false;
    }
    if (element) [element.dataset.covered, element.inert] = ["yes", true];
    // Blurs what would give the answer away elsewhere on the page. A rule `body:has([data-covered])` would restyle the page at
    // every label that Plotly measures.
    document.body.toggleAttribute("data-covering", Boolean(element));
    document.body.toggleAttribute("data-covering-cards", Boolean(element?.matches(".view") && element.querySelector("#tokens-pieces-cards")));
  },

  // `spot` is what is outlined within the element, as in explorer/teaching/lessons/lesson.py; empty for all of it.
  async point(id, cover = "", spot = []) {
    for (const one of document.querySelectorAll("[data-pointed]")) delete one.dataset.pointed;
    unmark();
    this.cover(null);
    this.covering = cover;
    document.dispatchEvent(new CustomEvent("bert:moved")); // phones that follow must not see it either
    const turn = (this.turn += 1);
    if (!id && !cover) return;
    let until = Date.now() + this.PATIENCE;
    const wait = () => new Promise((go) => setTimeout(go, 120));
    let element = null;
    for (await wait(); Date.now() < until && this.turn === turn; await wait()) {
      if (cover) this.cover(this.element(cover)); // before its numbers are seen
      element = document.getElementById(id);
      if (document.body.dataset.busy) until = Date.now() + this.PATIENCE; // a head may have to be trained first
      else if (element?.getClientRects().length) break;
    }
    if (this.turn !== turn || !element) return;
    element.dataset.pointed = "yes";
    if (spot.length && !cover) markSpot(element, spot);
    this.reveal(turn, element.closest("[data-covered]") ?? element);
  },

  // Scroll to the element, or to what is marked within it where it is taller than the room between the bar and a sheet; and again
  // while the page around it still grows, unless the user scrolls. The room is known only here, so it is not left to a scroll-margin.
  async reveal(turn, element) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const sheet = matchMedia("(max-width: 999px)").matches;
    const theirs = new AbortController();
    for (const kind of ["wheel", "touchmove", "keydown"]) addEventListener(kind, () => theirs.abort(), { signal: theirs.signal });
    for (let tries = 0; tries < 8 && this.turn === turn && !theirs.signal.aborted; tries += 1) {
      const top = document.getElementById("bar")?.getBoundingClientRect().bottom ?? 0; // the bar covers what lies under it
      const bottom = sheet && this.box ? this.box.getBoundingClientRect().top : innerHeight;
      const whole = element.getBoundingClientRect();
      const frame = whole.height > bottom - top ? (element.querySelector("[data-spot]")?.getBoundingClientRect() ?? whole) : whole;
      if (!element.closest("#bar") && (frame.top < top || frame.bottom > bottom)) {
        const above = sheet || frame.height > 0.7 * bottom ? this.ABOVE : (bottom - top - frame.height) / 2;
        scrollBy({ top: frame.top - top - above, behavior: calm ? "auto" : "smooth" });
      }
      await new Promise((go) => setTimeout(go, 700));
    }
    theirs.abort();
  },
};

// A link may lead to a step, #lesson=03-one-head.2, or show what solved its exercise, #exercise=03-one-head.1
addEventListener("DOMContentLoaded", () => {
  const proven = exerciseIn(location.hash);
  const asked = proven || /^#lesson=([\w.-]+)$/.exec(location.hash)?.[1];
  if (!asked) return;
  const there = setInterval(() => {
    if (!document.querySelector("#strip .bx-token")) return;
    clearInterval(there);
    BertLessons.open(asked, Boolean(proven));
  }, 100);
});
