// What the page does in the browser, without asking Python.
window.BertPage = {
  PAUSE: 36, // ms after the last key until a text is read, one reading at a time: a held key repeats every 33 ms
  LULL: 60, // ms after a picture was drawn until the rest of it is requested
  SETTLING: 8_000, // ms after which the page counts as settled
  MOUNTING: 2_000, // ms for the browser to mount what was sent
  PATIENCE: 20_000, // ms to wait for what should have come
  tell: null, // sends what was typed and not sent yet
  working: 0, // number of running calls
  timer: 0, // the timer of the next reading
  menu: null, // the dropdown in use, and
  shown: "", // its value when it was last read

  pulses: new Map(), // by name: asks the server to draw a choice of a tab, or ("") a tab that is not built
  asked: new Map(), // when each pulse that is not there yet was requested, by name
  reading: 0, // the timeout of the current reading of a text, 0 for none
  hasRead: false, // whether a text was read since the page was opened
  drawing: 0, // until when we wait for the drawing under way; 0 for none
  at: null, // the tab and choice last requested
  wish: null, // what the user chose since the last request
  keyed: 0, // when a key was last pressed
  left: null, // name of the pulse whose drawing left something out, until the rest is there,
  resting: 0, // when the rest is requested, or until when we wait for it,
  asksRest: false, // and whether it was requested

  // Have what is open drawn, with what the user `chose` (token, layer, head or hidden_state). One drawing at a time: a
  // request made meanwhile is sent when the answer is there.
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
    if (document.querySelector(`#tab-${tab} .view[data-waiting]`)) delete index.at_once; // a first drawing is complete
    this.wish = null;
    pulse("select", { index, value: "" });
  },

  // Whether a pulse was requested a moment ago.
  isComing(name) {
    return performance.now() - (this.asked.get(name) ?? -Infinity) < this.MOUNTING;
  },

  drawn() {
    if (!this.drawing) return;
    clearTimeout(this.drawing);
    this.drawing = 0;
    this.done();
    const { tab, choice } = this.place();
    const elsewhere = tab !== this.at.tab || (this.at.choice && choice !== this.at.choice); // the server went elsewhere meanwhile
    if (this.wish || elsewhere) this.draw();
    else setTimeout(() => this.left || delete document.body.dataset.more);
  },

  // A drawing was made at once, without its slow parts. They are requested when the picture is seen and nobody types on; until
  // then, what is left of the text before is pale.
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

  // The rest is there, or the server gave it up for a newer call.
  finished() {
    if (!this.asksRest) return; // it belongs to an earlier picture
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

  // The id of a tab, from its button.
  idOf(button) {
    return button?.id.replace(/^tab-|-button$/g, "") ?? "";
  },

  // The open tab, and its open choice.
  place() {
    const tab = this.idOf(document.querySelector('#tabs [role=tab][aria-selected="true"]'));
    const choice = document.querySelector(`#${tab}-view input:checked`)?.closest("label").textContent.trim();
    return { tab, choice: choice ?? [...this.pulses.keys()].find((name) => name.startsWith(`${tab}/`))?.slice(tab.length + 1) };
  },

  // The strip has its own listener; what is open is requested at the same time.
  asking(values) {
    clearTimeout(this.reading);
    this.reading = setTimeout(() => this.wasRead(), this.PATIENCE);
    this.draw({ at_once: true });
    return this.busy(values);
  },

  // Resolves when the page is there and idle, or after a while.
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

  // A page sent with its opening values needs no first drawing: such calls never resolve.
  opened(values) {
    const filled = window.gradio_config?.components.find((one) => one.props.elem_id === "strip")?.props.value;
    return filled ? new Promise(() => {}) : Promise.resolve(values);
  },

  // A page that was sent before its model is loaded says so where the tokens will be; the first tokens replace the sentence.
  async awaitModel() {
    const tokens = document.querySelector("gradio-app #strip .bx-tokens:empty");
    if (!tokens) return;
    this.busy();
    const health = await fetch("healthz").then((answer) => answer.json()).catch(() => ({}));
    if (health.model !== "loading" || tokens.firstChild || this.hasRead) return this.done();
    const loading = BertExplorer.el("p", { class: "bx-loading", role: "status" }, "The model is being loaded, which takes a few seconds …");
    tokens.append(loading);
    new MutationObserver((_, look) => {
      if (loading.isConnected) return;
      look.disconnect();
      this.done();
    }).observe(tokens, { childList: true });
  },

  // The page has its state, for which the model was loaded, or it was said why not. What is being read removes the sentence.
  wasOpened() {
    setTimeout(() => delete document.body.dataset.arriving, 100); // of a link that leads nowhere
    setTimeout(() => this.reading || document.querySelector(".bx-loading")?.remove(), 100);
  },

  // For text boxes. Resolves when nothing was typed for a moment and the previous text is answered, or when the box is left,
  // so that the next click comes after it. Calls that a newer one replaces, and calls for a text set by the page, never
  // resolve.
  typed(values, boxes) {
    return new Promise((resolve) => {
      if (!document.activeElement?.closest(boxes)) return;
      clearTimeout(this.timer);
      this.tell = () => {
        clearTimeout(this.timer);
        this.tell = null;
        resolve(values);
      };
      // Gradio reports a key one frame later.
      const waited = performance.now() - this.keyed;
      this.timer = setTimeout(() => !this.reading && this.tell?.(), Math.max(0, this.PAUSE - waited));
    });
  },

  // The strip shows the last text, or an error was shown.
  wasRead() {
    clearTimeout(this.reading);
    this.reading = 0;
    this.hasRead = true;
    document.querySelector(".bx-loading")?.remove();
    this.tell?.();
    this.done();
  },

  // For dropdowns, which fire `input` on a choice and again on being left, even if nothing was chosen. Calls without a new
  // value never resolve.
  chosen(values) {
    return new Promise((resolve) => {
      if (this.menu && this.menu.value === this.shown) return;
      this.shown = this.menu?.value;
      resolve(values);
    });
  },

  // Work began: the style sheet shows a line after a short delay, so that quick answers do not blink.
  busy(values) {
    this.working += 1; // calls often start another before they end
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
    setTimeout(() => requestAnimationFrame(show), 60); // after the layout of what came
  },

  // A view seen for the first time shows placeholders, and then all of its parts at once.
  awaitViews() {
    for (const view of document.querySelectorAll(".view:not([data-seen])")) {
      const drawn = [...view.querySelectorAll(".bx canvas, .bx svg, .bx button")];
      const filled = drawn.some((one) => !one.closest(".bx-finding, .bx-overview")); // these two are there from the start
      if (!view.offsetParent || filled || view.dataset.waiting) continue;
      view.dataset.waiting = "yes";
      setTimeout(() => delete view.dataset.waiting, this.PATIENCE); // a lost connection is never reported
    }
  },

  // Open a tab by its title, and one of its choices.
  open(title, choice) {
    [...document.querySelectorAll("#tabs [role=tab]")].find((one) => one.textContent.trim() === title)?.click();
    const until = performance.now() + this.PATIENCE;
    const choose = () => { // a tab is built on its first opening
      const radios = [...document.querySelectorAll("#tabs label")].filter((label) => label.textContent.trim() === choice);
      const seen = radios.find((label) => label.offsetParent);
      if (seen) seen.click();
      else if (performance.now() < until) requestAnimationFrame(choose);
    };
    if (choice) requestAnimationFrame(choose);
    document.querySelector("#tabs")?.scrollIntoView({ block: "start" });
  },

  // Whether keys typed there are text, not the page's shortcuts.
  isTyping(target) {
    return Boolean(target.closest?.("dialog, .table-wrap, textarea, select, [contenteditable=true], input:not([type=radio], [type=checkbox], [type=range])"));
  },

  // Whether the box is the number of a slider.
  ofSlider(box) {
    return box.type === "number" && box.max !== "" && !box.closest("#steppers");
  },

  // Save a table as CSV; a cell that a spreadsheet would run as a formula gets an apostrophe.
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

// Gradio's components arrive one by one and push each other about: hide them until the bar is complete.
BertPage.showWhenComplete = function () {
  const PARTS = ["#open-lessons", "#examples input", "#model-box input", "#text-b textarea", "#strip .bx-tokens", "#tabs [role=tab]"];
  const root = document.documentElement;
  root.dataset.coming = "yes";
  let shown = false;
  const show = () => {
    look.disconnect();
    if (shown) return;
    shown = true;
    delete root.dataset.coming;
    this.awaitModel();
    if (!window.gradio_config?.auth_required) BertExplorer.plotlyAtRest();
  };
  const look = new MutationObserver(() => {
    const login = window.gradio_config?.auth_required; // a page of two boxes
    const complete = login || PARTS.every((part) => document.querySelector(`gradio-app ${part}`));
    if (complete || document.querySelector("gradio-app .error")) requestAnimationFrame(() => requestAnimationFrame(show));
  });
  look.observe(root, { childList: true, subtree: true });
  setTimeout(show, this.PATIENCE); // then show what is there
};
BertPage.showWhenComplete();

document.addEventListener("input", () => (BertPage.keyed = performance.now()), { capture: true });

// The user opens a tab; a tab that the server opens comes with its content.
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
  // After the event that a dropdown fires when it is left.
  setTimeout(() => {
    if (document.activeElement !== BertPage.menu) BertPage.menu = null;
  });
});

// A click in a list counts even on the chosen item. In the capture phase, before the list's own listener.
document.addEventListener(
  "mousedown",
  ({ target }) => {
    if (target.closest("[role=option]")) BertPage.shown = null;
  },
  { capture: true },
);

// A slider's number past the end becomes the end, before Gradio sees and refuses it; an empty box or a number too small may
// be the beginning of another number.
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

// The words about each model stand behind its name in the list, and not in the box.
new MutationObserver(() => {
  const options = document.querySelectorAll("#model-box [role=option]");
  if (!options.length) return;
  const known = JSON.parse(document.querySelector("#models textarea, #models input")?.value || "{}");
  for (const option of options) option.setAttribute("aria-description", known[option.getAttribute("aria-label")] ?? "");
}).observe(document.documentElement, { childList: true, subtree: true });
