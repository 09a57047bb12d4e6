// Answers that stay hidden until the class has guessed. Python marks parts as answers (`answer=True`); an attribute of the
// document hides them all by style sheet, so that new ones are never seen before they are covered.
window.BertAnswers = {
  KEPT: "bert-answers", // key in sessionStorage
  ANSWERS: ".block.bx-answer",
  FINDING: ".block.bx-answer:is(#stage *, :has(.bx-finding))", // the same answer in two places
  WORDS: "Answer hidden — click, or press H",
  about: "", // the subject of the uncovered answers: when it changes, they are covered again
  due: 0,

  get hidden() {
    return document.documentElement.dataset.answers === "hidden";
  },

  remembered() {
    try {
      return sessionStorage.getItem(this.KEPT) === "hidden";
    } catch {
      return false; // the browser refuses storage
    }
  },

  // Hide or show all answers.
  set(hidden) {
    if (hidden) document.documentElement.dataset.answers = "hidden";
    else delete document.documentElement.dataset.answers;
    try {
      sessionStorage.setItem(this.KEPT, hidden ? "hidden" : "shown");
    } catch {
      // then it is forgotten with the page
    }
    this.coverAll();
    this.about = this.subject();
    this.fit();
  },

  toggle() {
    this.set(!this.hidden);
  },

  coverAll() {
    for (const block of document.querySelectorAll(`${this.ANSWERS}[data-shown]`)) delete block.dataset.shown;
  },

  // Show one answer until the page's subject changes.
  show(block) {
    const same = block.matches(this.FINDING) ? [...document.querySelectorAll(this.FINDING)] : [block];
    for (const one of same.filter((one) => one === block || one.getClientRects().length)) one.dataset.shown = "yes";
    block.tabIndex = -1; // its button, which had the focus, is gone
    block.focus({ preventScroll: true });
  },

  // Show every answer inside an element, or the answer that contains it.
  showIn(element) {
    if (!this.hidden || !element) return;
    const around = element.closest(this.ANSWERS);
    for (const block of around ? [around] : element.querySelectorAll(this.ANSWERS)) block.dataset.shown = "yes";
  },

  // The subject of answers: the model, the page's texts, the texts of views, and what is open.
  subject() {
    const values = [...document.querySelectorAll(":is(#model-name, #text-a, #text-b) :is(textarea, input)")];
    const panel = [...document.querySelectorAll("#tabs [role=tabpanel]")].find((one) => one.offsetParent);
    const own = [...(panel?.querySelectorAll("[data-testid=textbox], [id$=-view] input:checked") ?? [])];
    return JSON.stringify([panel?.id, ...[...values, ...own.filter((one) => one.offsetParent)].map((one) => one.value)]);
  },

  // Runs before anything new is painted.
  changed() {
    if (!this.hidden) return;
    const about = this.subject();
    if (about !== this.about) this.coverAll();
    this.about = about;
    this.due ||= requestAnimationFrame(() => this.fit());
  },

  // Give every answer with content a cover, and set every switch.
  fit() {
    this.due = 0;
    for (const button of document.querySelectorAll(".bx-answers button")) {
      const pressed = String(this.hidden);
      if (button.getAttribute("aria-pressed") !== pressed) button.setAttribute("aria-pressed", pressed);
    }
    for (const block of document.querySelectorAll(this.ANSWERS)) {
      const cover = [...block.children].find((one) => one.matches(".bx-cover")) ?? (this.hidden ? this.cover(block) : null);
      const empty = !this.says(block);
      if (cover && cover.hidden !== empty) cover.hidden = empty;
    }
  },

  says(block) {
    const contents = [...block.children].filter((one) => !one.matches(".bx-cover, [data-testid=status-tracker]"));
    return contents.some((one) => one.textContent.trim() || one.querySelector("canvas, svg"));
  },

  cover(block) {
    const button = BertExplorer.el("button", { type: "button", class: "bx-cover", "aria-expanded": "false", hidden: "" }, this.WORDS);
    button.addEventListener("click", () => this.show(block));
    block.append(button);
    return button;
  },

  button() {
    const look = { type: "button", "aria-pressed": String(this.hidden), "aria-keyshortcuts": "H", title: "Cover every answer until it is asked for (H)" };
    const button = BertExplorer.el("button", look, BertExplorer.el("span", {}, "Hide answers"));
    button.addEventListener("click", () => this.toggle());
    return button;
  },

  start() {
    if (this.remembered()) document.documentElement.dataset.answers = "hidden";
    new MutationObserver(() => this.changed()).observe(document.documentElement, {
      subtree: true, childList: true, characterData: true, attributeFilter: ["data-busy"],
    });
    document.addEventListener("input", () => this.changed());
    document.addEventListener("keydown", (event) => {
      if (event.key?.toLowerCase() !== "h" || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
      if (event.repeat || BertPage.isTyping(event.target)) return;
      event.preventDefault();
      this.toggle();
    });
  },
};
BertAnswers.start();
