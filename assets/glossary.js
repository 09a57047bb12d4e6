// Terms of the glossary, explained where the page's own texts use them: in lessons, captions and findings.
window.BertGlossary = {
  ADDRESS: "bx/glossary.json",
  CAPTIONS: ".view .caption, .view .detail-title",
  BLOCKS: "p, li, td, th", // within each, only the first mention of a term is marked
  OTHERS: "a, button, code, em, .bx-term", // what is no prose of ours, or marked already; slanted words are examples
  QUOTED: /[“‘"][^”’"]*[”’"]/g,
  PAUSE: 250, // ms for which a pointer rests on a term before its meaning comes, or is away before it goes
  terms: [],
  byWord: new Map(), // word in lower case → index of its term
  words: null, // a regular expression of all words; null until the glossary is here
  waiting: new Set(), // elements to mark once it is
  due: 0,
  box: null,
  term: null, // the marked word whose meaning is shown
  pinned: false, // it was asked for by a click or a key, and stays
  timer: 0,
  returning: false, // the focus goes back to a term

  async fetch() {
    try {
      this.terms = (await (await fetch(this.ADDRESS)).json()).terms;
    } catch {
      return; // the page does without
    }
    this.terms.forEach((term, index) => term.words.forEach((word) => this.byWord.set(word, index)));
    const longest = [...this.byWord.keys()].sort((one, other) => other.length - one.length); // letters, spaces and hyphens only
    this.words = new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${longest.join("|")})(?![\\p{L}\\p{N}_-])`, "giu");
    for (const root of this.waiting) this.mark(root);
    this.waiting.clear();
    this.later();
  },

  // ---- Marking.

  // Mark the terms in an element with text of ours.
  mark(root) {
    if (!this.words) {
      this.waiting.add(root);
      return;
    }
    const inner = [...root.querySelectorAll(this.BLOCKS)];
    for (const block of inner.length ? inner : [root]) {
      if (!block.querySelector(`.bx-term, ${this.BLOCKS}`)) this.markBlock(block, root.closest(".bx-finding"));
    }
  },

  markBlock(block, isFinding) {
    const texts = document.createNodeIterator(block, NodeFilter.SHOW_TEXT);
    const nodes = [];
    for (let node = texts.nextNode(), from = 0; node; from += node.length, node = texts.nextNode()) nodes.push([node, from]);
    const whole = block.textContent;
    const kept = isFinding ? this.typed(whole) : [...whole.matchAll(this.QUOTED)].map((one) => [one.index, one.index + one[0].length]);
    const seen = isFinding ? this.inInput() : new Set();
    for (const [node, from] of nodes) {
      if (node.parentElement.closest(this.OTHERS)) continue;
      const found = [...node.data.matchAll(this.words)].filter(({ 0: word, index }) => {
        const term = this.byWord.get(word.toLowerCase());
        const at = from + index;
        return !kept.some(([start, end]) => at < end && at + word.length > start) && !seen.has(term) && seen.add(term);
      });
      for (const { 0: word, index } of found.reverse()) {
        const rest = node.splitText(index);
        rest.splitText(word.length);
        rest.replaceWith(this.marked(word));
      }
    }
  },

  marked(word) {
    const index = this.byWord.get(word.toLowerCase());
    return BertExplorer.el("span", { class: "bx-term", role: "button", tabindex: "0", "data-term": index, "aria-haspopup": "dialog" }, word);
  },

  // What a finding says of the user's words stands between quotes; words may contain some, so that all is left from the first to the last.
  typed(text) {
    const places = [...text.matchAll(/[“”‘’"]/g)].map((one) => one.index);
    return places.length ? [[places[0], places.at(-1) + 1]] : [];
  },

  // The terms that are words of the input: there they are not ours.
  inInput() {
    const typed = [...document.querySelectorAll(":is(#text-a, #text-b) :is(textarea, input)")].map((one) => one.value).join(" ");
    return new Set([...typed.matchAll(this.words)].map(([word]) => this.byWord.get(word.toLowerCase())));
  },

  // Mark the captions that are seen, when the page has time.
  later() {
    if (!this.words || this.due) return;
    const rest = window.requestIdleCallback ?? ((call) => setTimeout(call, 200));
    this.due = rest(() => {
      this.due = 0;
      for (const one of document.querySelectorAll(this.CAPTIONS)) if (one.getClientRects().length) this.mark(one);
    });
  },

  // ---- Telling.

  make() {
    this.box = BertExplorer.el("div", { id: "meaning", role: "dialog", tabindex: "-1", hidden: "" });
    this.box.addEventListener("pointerenter", () => clearTimeout(this.timer));
    this.box.addEventListener("pointerleave", () => this.leave());
    this.box.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && relatedTarget !== this.box && !this.box.contains(relatedTarget)) this.close();
    });
    document.body.append(this.box);
  },

  show(term, pinned = false) {
    const { el } = BertExplorer;
    clearTimeout(this.timer);
    if (!this.box) this.make();
    const { name, meaning, where, query, anchor } = this.terms[term.dataset.term];
    const text = el("p");
    text.innerHTML = meaning; // from our own file: Markdown without HTML
    const theme = document.body.classList.contains("dark") ? "dark" : "light";
    const view = el("a", { href: BertLink.address(this.here(query)) }, where);
    view.addEventListener("click", (event) => this.visit(event, query));
    const more = el("a", { href: `bx/guide/glossary?__theme=${theme}#${anchor}`, target: "_blank", rel: "noopener" }, "Glossary");
    this.box.replaceChildren(el("b", {}, name), text, el("p", { class: "bx-meaning-links" }, view, more));
    this.box.setAttribute("aria-label", name);
    this.box.hidden = false;
    [this.term, this.pinned] = [term, pinned];
    this.place();
    if (pinned) this.box.focus({ preventScroll: true });
  },

  // Below the word, or above it where there is no room.
  place() {
    const word = this.term.getClientRects()[0];
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const below = word.bottom + 6;
    const top = below + height > innerHeight - 8 ? Math.max(8, word.top - height - 6) : below;
    this.box.style.left = `${Math.max(8, Math.min(word.left - 12, document.documentElement.clientWidth - width - 8))}px`;
    this.box.style.top = `${top}px`;
  },

  close(back = false) {
    clearTimeout(this.timer);
    const { term } = this;
    [this.term, this.pinned] = [null, false];
    if (this.box) this.box.hidden = true;
    if (!back || !term?.isConnected) return;
    this.returning = true; // its meaning was just closed
    term.focus({ preventScroll: true });
    this.returning = false;
  },

  leave() {
    clearTimeout(this.timer);
    if (!this.pinned) this.timer = setTimeout(() => this.close(), this.PAUSE);
  },

  // The link to a view, with the model and the texts of the page.
  here(query) {
    const [link, now] = [new URLSearchParams(query), new URLSearchParams(BertLink.query ?? "")];
    for (const name of ["model", "a", "b"]) if (now.has(name)) link.set(name, now.get(name));
    return String(link);
  },

  visit(event, query) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.close(true);
    BertLink.visit(this.here(query));
  },

  keys(event) {
    const term = event.target.closest?.(".bx-term");
    const out = event.key === "Tab" && this.box?.contains(event.target) && !event.shiftKey && event.target === this.box.querySelector("a:last-child");
    if (term && (event.key === "Enter" || event.key === " ")) this.show(term, true);
    else if (this.term && (event.key === "Escape" || out)) this.close(this.pinned || out);
    else return;
    event.preventDefault();
    event.stopPropagation(); // Esc would close what is around it, too
  },

  listen() {
    const on = (kind, does) => document.addEventListener(kind, (event) => does(event, event.target.closest?.(".bx-term")), true);
    on("pointerover", (event, term) => {
      if (event.pointerType !== "mouse" || this.pinned || term === this.term) return term && clearTimeout(this.timer);
      if (!term) return this.term ? undefined : clearTimeout(this.timer);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => term.isConnected && this.show(term), this.PAUSE);
    });
    on("pointerout", (event, term) => term && event.pointerType === "mouse" && this.leave());
    on("focusin", (event, term) => term?.matches(":focus-visible") && !this.returning && this.show(term));
    on("focusout", (event, term) => term && this.leave());
    on("click", (event, term) => term && this.show(term, true));
    on("pointerdown", (event, term) => this.term && !term && !this.box.contains(event.target) && this.close());
    on("scroll", ({ target }) => this.term && target.contains?.(this.term) && this.close());
    addEventListener("keydown", (event) => this.keys(event), true);
  },
};

addEventListener("DOMContentLoaded", () => {
  BertGlossary.listen();
  // After each drawing.
  new MutationObserver(() => document.body.dataset.busy || BertGlossary.later()).observe(document.body, { attributes: true, attributeFilter: ["data-busy"] });
  (window.requestIdleCallback ?? setTimeout)(() => BertGlossary.fetch());
});
