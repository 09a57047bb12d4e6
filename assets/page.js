// What the page does by itself, without asking Python.
window.BertPage = {
  PAUSE: 36, // ms without a key after which a text is read, one reading at a time: a key that is held down comes every 33
  LULL: 60, // ms after a picture was drawn until what follows it is asked for
  SETTLING: 8_000, // ms until the page is taken for settled
  MOUNTING: 2_000, // ms until what was sent is mounted
  PATIENCE: 20_000, // ms until what should have come is waited for no more
  tell: null, // tells what was typed and is not told yet, and
  working: 0, // how much is under way
  timer: 0, // the moment it waits for
  menu: null, // the dropdown in use, and
  shown: "", // what it showed when it was last heard

  pulses: new Map(), // what asks the server to draw a choice of a tab, or a tab that is not built (""), by its name
  asked: new Map(), // when a pulse that was not there was asked for, by its name
  reading: 0, // the same of a text whose tokens are asked for
  drawing: 0, // the moment at which an answer is waited for no more; 0 for none under way
  at: null, // the tab and choice that were asked for last
  wish: null, // what a person chose since the last drawing was asked for
  keyed: 0, // when a key was last heard
  left: null, // the pulse of what was drawn without all of it, by its name, until the rest is there,
  resting: 0, // the moment at which the rest is asked for, or waited for no more,
  asksRest: false, // and whether it was asked for

  // Asks for what is open to be drawn, with what a person `chose` (token, layer, head or hidden_state). One drawing at a
  // time: what comes meanwhile is asked for when the answer is there.
  draw(chose = {}) {
    this.wish = { ...this.wish, ...chose };
    if (this.drawing) return;
    const { tab, choice } = this.place();
    const names = [`${tab}/${choice}`, ""];
    const name = names.find((one) => this.pulses.has(one) || this.isComing(one));
    const pulse = this.pulses.get(name);
    if (!pulse) {
      if (name !== undefined) setTimeout(() => this.wish && this.draw(), 30); // it was sent, and is being mounted
      return;
    }
    for (const one of names.slice(0, names.indexOf(name))) this.asked.set(one, performance.now());
    this.at = { tab, choice };
    this.drawing = setTimeout(() => this.drawn(), this.PATIENCE);
    this.busy();
    this.forgetRest();
    const index = { ...this.wish, tab };
    if (document.querySelector(`#tab-${tab} .view[data-waiting]`)) delete index.at_once; // what is seen first is seen complete
    this.wish = null;
    pulse("select", { index, value: "" });
  },

  // Whether a pulse was asked for a moment ago.
  isComing(name) {
    return performance.now() - (this.asked.get(name) ?? -Infinity) < this.MOUNTING;
  },

  drawn() {
    if (!this.drawing) return;
    clearTimeout(this.drawing);
    this.drawing = 0;
    this.done();
    const { tab, choice } = this.place();
    const elsewhere = tab !== this.at.tab || (this.at.choice && choice !== this.at.choice); // the server went there meanwhile
    if (this.wish || elsewhere) this.draw();
    else setTimeout(() => this.left || delete document.body.dataset.more);
  },

  // What was drawn was drawn at once, and more can be known of it. It is asked for when the picture is seen and nobody types
  // on; until then, what is still there of the text before is pale.
  more(name) {
    if (!this.left) this.busy();
    this.left = name;
    this.asksRest = false;
    document.body.dataset.more = "yes";
    this.awaitLull();
  },

  awaitLull() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      if (this.drawing || this.reading || this.tell || this.wish) return this.awaitLull();
      this.asksRest = true;
      this.resting = setTimeout(() => this.finished(), this.PATIENCE);
      this.pulses.get(this.left)("rest", { index: 0, value: "" });
    }, this.LULL);
  },

  // The rest is there, or the server has given it up for something newer.
  finished() {
    if (!this.asksRest) return; // it was of a picture before
    delete document.body.dataset.more;
    this.forgetRest();
  },

  forgetRest() {
    if (!this.left) return;
    clearTimeout(this.resting);
    this.left = null;
    this.asksRest = false;
    this.done();
  },

  // The id of a tab, by its button.
  idOf(button) {
    return button?.id.replace(/^tab-|-button$/g, "") ?? "";
  },

  // The open tab, and the open choice in it.
  place() {
    const tab = this.idOf(document.querySelector('#tabs [role=tab][aria-selected="true"]'));
    const choice = document.querySelector(`#${tab}-view input:checked`)?.closest("label").textContent.trim();
    return { tab, choice: choice ?? [...this.pulses.keys()].find((name) => name.startsWith(`${tab}/`))?.slice(tab.length + 1) };
  },

  // The strip is asked for by a listener of its own, and what is open at the same time.
  asking(values) {
    clearTimeout(this.reading);
    this.reading = setTimeout(() => this.wasRead(), this.PATIENCE);
    this.draw({ at_once: true });
    return this.busy(values);
  },

  // Resolves when the page is there and has nothing under way, or after a while.
  quiet() {
    const until = performance.now() + this.SETTLING;
    return new Promise((resolve) => {
      const look = () => {
        const there = document.querySelector("gradio-app #strip .bx-token") && !document.querySelector("#first");
        if ((there && !this.working) || performance.now() > until) (window.requestIdleCallback ?? setTimeout)(resolve, { timeout: 500 });
        else setTimeout(look, 50);
      };
      look();
    });
  },

  // A page that was sent with what it opens with has nothing to ask for; calls for it never resolve.
  opened(values) {
    const filled = window.gradio_config?.components.find((one) => one.props.elem_id === "strip")?.props.value;
    return filled ? new Promise(() => {}) : Promise.resolve(values);
  },

  // For boxes of text. Resolves when nothing has been typed for a moment and the answer to what was typed before is there,
  // or when the box is left, so that whatever is clicked next comes after it. Calls that were overtaken never resolve, nor
  // those for a text that the page has set.
  typed(values, boxes) {
    return new Promise((resolve) => {
      if (!document.activeElement?.closest(boxes)) return;
      clearTimeout(this.timer);
      this.tell = () => {
        clearTimeout(this.timer);
        this.tell = null;
        resolve(values);
      };
      // Gradio tells of a key a frame later.
      const waited = performance.now() - this.keyed;
      this.timer = setTimeout(() => !this.reading && this.tell?.(), Math.max(0, this.PAUSE - waited));
    });
  },

  // The strip shows what was typed last, or an error was told.
  wasRead() {
    clearTimeout(this.reading);
    this.reading = 0;
    this.tell?.();
    this.done();
  },

  // For dropdowns, which say `input` when something is chosen and once more whenever they are left, even by somebody who
  // has only looked. Calls that bring nothing new never resolve.
  chosen(values) {
    return new Promise((resolve) => {
      if (this.menu && this.menu.value === this.shown) return;
      this.shown = this.menu?.value;
      resolve(values);
    });
  },

  // Work is under way: the style sheet draws a line, a little later, so that quick answers do not blink.
  busy(values) {
    this.working += 1; // one thing that is asked for often asks for another before it ends
    document.body.dataset.busy = "yes";
    this.awaitViews();
    return values;
  },

  done() {
    this.working = Math.max(0, this.working - 1);
    if (this.working) return;
    delete document.body.dataset.busy;
    const seen = [...document.querySelectorAll(".view")].filter((view) => view.offsetParent);
    const show = () => seen.forEach((view) => {
      view.dataset.seen = "yes";
      delete view.dataset.waiting;
    });
    setTimeout(() => requestAnimationFrame(show), 60); // what has come is laid out by then
  },

  // What is seen for the first time shows the shapes of what comes, and all of it at once when it has come.
  awaitViews() {
    for (const view of document.querySelectorAll(".view:not([data-seen])")) {
      const drawn = [...view.querySelectorAll(".bx canvas, .bx svg, .bx button")];
      const filled = drawn.some((one) => !one.closest(".bx-finding, .bx-overview")); // these two are there from the start
      if (!view.offsetParent || filled || view.dataset.waiting) continue;
      view.dataset.waiting = "yes";
      setTimeout(() => delete view.dataset.waiting, this.PATIENCE); // of a lost connection nobody tells
    }
  },

  // Goes to a tab, by its title, and to one of the choices in it.
  open(title, choice) {
    [...document.querySelectorAll("#tabs [role=tab]")].find((one) => one.textContent.trim() === title)?.click();
    const until = performance.now() + this.PATIENCE;
    const choose = () => { // a tab is built when it is opened for the first time
      const radios = [...document.querySelectorAll("#tabs label")].filter((label) => label.textContent.trim() === choice);
      const seen = radios.find((label) => label.offsetParent);
      if (seen) seen.click();
      else if (performance.now() < until) requestAnimationFrame(choose);
    };
    if (choice) requestAnimationFrame(choose);
    document.querySelector("#tabs")?.scrollIntoView({ block: "start" });
  },

  // Whether keys are letters there, and not the page's own.
  isTyping(target) {
    return Boolean(target.closest?.("dialog, .table-wrap, textarea, select, [contenteditable=true], input:not([type=radio], [type=checkbox], [type=range])"));
  },

  // Whether this is the number of a slider.
  ofSlider(box) {
    return box.type === "number" && box.max !== "" && !box.closest("#steppers");
  },

  // A table as a file, made here; a cell that a spreadsheet would run as a formula gets an apostrophe.
  downloadCsv({ headers, data }, name) {
    const cell = (value) => {
      const text = typeof value === "string" && /^[=+\-@\t]/.test(value) ? `'${value}` : String(value ?? "");
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [headers, ...data].map((row) => row.map(cell).join(",")).join("\r\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${lines}\r\n`], { type: "text/csv" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  },

  // On a phone the bar is one line of tokens until it is opened.
  toggleBar() {
    document.body.toggleAttribute("data-bar");
    document.querySelector("#open-bar").setAttribute("aria-expanded", document.body.hasAttribute("data-bar"));
    if (document.body.hasAttribute("data-bar")) document.querySelector("#text-a textarea").focus();
  },

  toggleTheme() {
    document.body.classList.toggle("dark");
  },
};

// Gradio's components come one by one, each moving those that are there; nothing of them is seen before the bar is complete.
BertPage.showWhenComplete = function () {
  const PARTS = ["#open-lessons", "#examples input", "#model-box input", "#text-b textarea", "#strip .bx-tokens", "#tabs [role=tab]"];
  const root = document.documentElement;
  root.dataset.coming = "yes";
  const show = () => {
    look.disconnect();
    delete root.dataset.coming;
  };
  const look = new MutationObserver(() => {
    const login = window.gradio_config?.auth_required; // a page of two boxes
    const complete = login || PARTS.every((part) => document.querySelector(`gradio-app ${part}`));
    if (complete || document.querySelector("gradio-app .error")) requestAnimationFrame(() => requestAnimationFrame(show));
  });
  look.observe(root, { childList: true, subtree: true });
  setTimeout(show, this.PATIENCE); // what has not come by then is to be seen as it is
};
BertPage.showWhenComplete();

document.addEventListener("input", () => (BertPage.keyed = performance.now()), { capture: true });

// A person opens a tab; where the server opens one, its answer holds what is seen there.
document.addEventListener("click", ({ target }) => {
  if (!target.closest("#tabs [role=tab]")) return;
  requestAnimationFrame(() => {
    BertPage.awaitViews();
    BertPage.draw();
  });
});

document.addEventListener("focusin", ({ target }) => {
  if (target.role !== "combobox") return;
  BertPage.menu = target;
  BertPage.shown = target.value;
});

document.addEventListener("focusout", () => {
  BertPage.tell?.();
  // What a dropdown says on being left is heard before this.
  setTimeout(() => {
    if (document.activeElement !== BertPage.menu) BertPage.menu = null;
  });
});

// What is clicked in a list counts, even if it was chosen before. Heard on the way down, before the list hears it.
document.addEventListener(
  "mousedown",
  ({ target }) => {
    if (target.closest("[role=option]")) BertPage.shown = null;
  },
  { capture: true },
);

// The number of a slider: past the end it becomes the end, before Gradio hears of it, which would only refuse it; an
// empty box, or a number that is too small, may be the beginning of another.
document.addEventListener(
  "input",
  (event) => {
    if (!BertPage.ofSlider(event.target)) return;
    const { value, min, max } = event.target;
    if (value === "") event.stopImmediatePropagation();
    else if (+value > +max) event.target.value = max;
    else if (+value < +min && +value <= 0) event.target.value = min;
  },
  { capture: true },
);

document.addEventListener("change", ({ target }) => {
  if (!BertPage.ofSlider(target) || target.value !== "") return;
  target.value = target.min;
  target.dispatchEvent(new Event("input", { bubbles: true }));
});

// What is known of each model stands behind its name in the list of the box, and not in what the box holds.
new MutationObserver(() => {
  const options = document.querySelectorAll("#model-box [role=option]");
  if (!options.length) return;
  const known = JSON.parse(document.querySelector("#models textarea, #models input")?.value || "{}");
  for (const option of options) option.setAttribute("aria-description", known[option.getAttribute("aria-label")] ?? "");
}).observe(document.documentElement, { childList: true, subtree: true });
