// The teacher's side of a room: a board for the projector over the page, and a chip on the page while the board is away.
import { hidden } from "../answers.js";
import { linkState, visit } from "../link.js";
import { covered } from "../page/pointing.js";
import "./news.js";

window.BertRoom = {
  KEPT: "bert-room", // key in sessionStorage: { word, key, address, following }
  LOCAL: "Phones cannot reach this machine: start the app with --host 0.0.0.0, and they can from the same network.",
  QUESTIONS: {
    blank: ["Fill the blank", "Which word does BERT put into the blank?"],
    pair: ["Does B follow A?", "Does BERT take B for the sentence after A?"],
    target: ["Where does a head look?", "Which token does a token look at most? First choose which one, and the head."],
  },
  room: null, // the stored value
  state: null, // the room's last message
  board: null, // the board's element, after it was first shown
  code: null, // the QR code's image
  wrong: "", // the last error
  look: null, // { query, tokens, layers, heads, layer, head, token }: the look to ask about, before it is asked
  record: null, // the class's record, while the board shows it
  held: false, // whether a pointer is down on the board
  closing: false, // whether the room closes when the button is pressed again
  stop: null, // ends the listening
  told: "", // what followers were last sent, and
  timer: 0, // the timer of the next message to them

  // ---- Opening and closing.

  // The entry in the list of lessons.
  entry() {
    const { el } = BertExplorer;
    const button = el("button", { type: "button", id: "open-room" }, this.room ? `To the room ${this.spoken()} ›` : "Open a room for your class ›");
    button.addEventListener("click", () => this.open());
    return button;
  },

  async open() {
    try {
      if (!this.room) this.start(await BertExplorer.room.act("", ""));
      this.show();
    } catch (error) {
      document.getElementById("open-room")?.after(BertExplorer.el("p", { role: "alert" }, error.message));
    }
  },

  start(room) {
    this.room = room;
    this.keep();
    this.stop = BertExplorer.room.listen(room.word, room.key, {
      heard: (state) => {
        this.state = state;
        this.draw();
      },
      lost: (now) => document.body.toggleAttribute("data-room-lost", now),
      over: () => this.end(),
    });
    if (room.following) this.follow();
  },

  keep() {
    try {
      if (this.room) sessionStorage.setItem(this.KEPT, JSON.stringify(this.room));
      else sessionStorage.removeItem(this.KEPT);
    } catch {
      // then the room is forgotten with the page
    }
  },

  resume() {
    try {
      const room = JSON.parse(sessionStorage.getItem(this.KEPT));
      if (room?.key) this.start(room);
    } catch {
      // no stored room
    }
  },

  end() {
    this.stop?.();
    [this.room, this.state, this.stop, this.look, this.record, this.told, this.wrong] = [null, null, null, null, null, "", ""];
    this.keep();
    this.board?.remove();
    delete document.body.dataset.board; // otherwise the page could no longer scroll
    document.getElementById("room-chip")?.remove();
    document.getElementById("open-room")?.replaceWith(this.entry());
    this.board = this.code = null;
    BertClass.forget();
  },

  // Do something as the teacher; errors are shown on the board.
  async act(action, body = {}) {
    this.wrong = "";
    try {
      await BertExplorer.room.act(`/${this.room.word}/${action}`, this.room.key, body);
    } catch (error) {
      this.wrong = error.message;
    }
    if (this.room) this.draw();
    return !this.wrong;
  },

  spoken() {
    return this.room.word.replace("-", " ");
  },

  // ---- Following.

  place() {
    return linkState.query ?? location.search.slice(1);
  },

  follow() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (!this.room?.following) return;
      const body = { query: this.place(), hidden: hidden(), covered: covered.id };
      if (JSON.stringify(body) === this.told) return;
      this.told = JSON.stringify(body);
      this.act("follow", body);
    }, 150);
  },

  setFollowing(on) {
    this.room.following = on;
    this.keep();
    this.told = "";
    if (on) this.follow();
    else this.act("follow");
    this.draw();
    document.dispatchEvent(new CustomEvent("bert:asked")); // the step that is open is now asked of the class, or no longer
  },

  // ---- The chip on the page.

  chip() {
    const { el } = BertExplorer;
    let chip = document.getElementById("room-chip");
    if (!chip) {
      chip = el("button", { type: "button", id: "room-chip", title: "Back to the board" });
      chip.addEventListener("click", () => this.show());
      document.body.append(chip);
    }
    const here = this.state.people.filter((one) => one.here).length;
    chip.textContent = `Room ${this.spoken()} · ${here} here${this.room.following ? " · following" : ""}`;
  },

  // ---- The board.

  show() {
    const { el } = BertExplorer;
    if (!this.board) {
      this.board = el("section", { id: "room", popover: "manual", "aria-label": "Board of the room" });
      document.body.append(this.board);
      this.board.addEventListener("pointerdown", () => (this.held = true));
      for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => this.held && setTimeout(() => this.letGo()));
    }
    this.board.replaceChildren(); // the page may have moved on since
    this.board.showPopover();
    document.body.dataset.board = "open";
    this.draw();
    this.board.querySelector("button")?.focus();
  },

  letGo() {
    this.held = false;
    this.draw();
  },

  hide() {
    this.board?.hidePopover();
    delete document.body.dataset.board;
    document.getElementById("room-chip")?.focus();
  },

  button(text, press, more = {}) {
    const button = BertExplorer.el("button", { type: "button", ...more }, text);
    button.addEventListener("click", press);
    return button;
  },

  // Redraw everything at each change, keeping typed text, what is selected in it, the focus and the widths of bars.
  draw() {
    if (!this.state) return;
    this.chip();
    BertClass.draw();
    if (this.held) return; // a button that is pressed must not be replaced
    if (!this.board?.matches(":popover-open")) return;
    const typed = new Map([...this.board.querySelectorAll("input")].map((box) => [box.name, box.value]));
    const open = new Set([...this.board.querySelectorAll("details[open]")].map((one) => one.dataset.id));
    const widths = new Map([...this.board.querySelectorAll("[data-bar]")].map((bar) => [bar.dataset.bar, bar.style.width]));
    const focus = document.activeElement?.dataset?.id ?? document.activeElement?.name;
    const { selectionStart: from, selectionEnd: to } = document.activeElement ?? {};
    this.board.replaceChildren(this.head(), this.aside(), this.main());
    for (const box of this.board.querySelectorAll("input")) box.value = typed.get(box.name) ?? box.value;
    for (const one of this.board.querySelectorAll("details")) one.open = open.has(one.dataset.id);
    for (const bar of this.board.querySelectorAll("[data-bar]")) {
      const wanted = bar.style.width;
      bar.style.width = widths.get(bar.dataset.bar) ?? "0%";
      requestAnimationFrame(() => requestAnimationFrame(() => (bar.style.width = wanted)));
    }
    if (!focus) return;
    const again = [...this.board.querySelectorAll("[data-id], input")].find((one) => (one.dataset.id ?? one.name) === focus);
    (again ?? this.board.querySelector(".bx-room-at .bx-room-main"))?.focus(); // the focused element may be gone
    if (again?.type === "text" && from !== null) again.setSelectionRange(from, to);
  },

  head() {
    const { el } = BertExplorer;
    const { following } = this.room;
    const follow = this.button(following ? "Phones follow this page" : "Let phones follow this page", () => this.setFollowing(!following), { "data-id": "follow", "aria-pressed": String(Boolean(following)) });
    const end = this.button(this.closing ? "Really, for everybody? Without a record nothing is kept" : "Close the room", () => (this.closing ? this.act("end") : this.close()), { "data-id": "end" });
    const away = this.button("Back to the page", () => this.hide(), { "data-id": "away", class: "bx-room-main" });
    const record = this.button(this.record ? "Back to the board" : "Record", () => this.takeRecord(), { "data-id": "record" });
    return el("header", {}, el("h2", {}, "Room ", el("b", {}, this.spoken())), el("p", { class: "bx-room-lost", role: "status" }, "The line is broken; one moment…"), follow, record, end, away);
  },

  // Ask for confirmation, for a moment.
  close() {
    this.closing = true;
    this.draw();
    setTimeout(() => {
      this.closing = false;
      this.draw();
    }, 5000);
  },

  // The QR code: fetched once, with the teacher's key.
  wayIn() {
    if (this.code) return this.code;
    const code = BertExplorer.el("img", { alt: `QR code of the way into the room ${this.spoken()}`, width: 240, height: 240 });
    const { word, key } = this.room;
    const draw = async (wait) => {
      if (this.code !== code) return; // the room was closed meanwhile
      const answer = await fetch(`bx/rooms/${word}/code.svg`, { headers: { Authorization: `Bearer ${key}` } }).catch(() => null);
      if (answer?.ok) code.src = URL.createObjectURL(await answer.blob());
      else setTimeout(draw, wait, Math.min(30_000, 2 * wait));
    };
    this.code = code;
    draw(1000);
    return code;
  },

  // How to join, and who has joined.
  aside() {
    const { el } = BertExplorer;
    const { address } = this.room;
    const shown = address.replace(/^https?:\/\//, "");
    const way = address ? [this.wayIn(), el("p", { class: "bx-room-address" }, shown)] : [el("p", { class: "bx-room-wrong" }, this.LOCAL), el("p", { class: "bx-room-address" }, `${location.host}/join`)];
    const { people, open } = this.state;
    const door = this.button(open ? "Close the door" : "Open the door", () => this.act("door", { open: !open }), { "data-id": "door" });
    const ranked = [...people].sort((one, other) => other.points - one.points);
    const rows = ranked.map((one) => {
      const out = this.button("×", () => this.act("remove", { id: one.id }), { "data-id": `out-${one.id}`, "aria-label": `Send ${one.name} out` });
      const kind = [one.here ? "" : "bx-away", one.answered ? "bx-answered" : ""].join(" ").trim();
      return el("li", { class: kind || null, title: one.here ? null : "away" }, el("span", {}, one.name), el("em", {}, String(one.points)), out);
    });
    return el("aside", {}, ...way, el("p", { class: "bx-room-word" }, this.spoken()),
      el("p", { class: "bx-room-count" }, `${people.length} in the room`, open ? null : ", the door is closed", " ", door), el("ul", {}, ...rows));
  },

  main() {
    const { el } = BertExplorer;
    const { exercise, round, teaching } = this.state;
    const wrong = this.wrong ? [el("p", { class: "bx-room-wrong", role: "alert" }, this.wrong)] : [];
    return el("div", { class: "bx-room-at" }, ...wrong, ...(this.record ? this.recordPage(this.record) : round ? this.round(round) : teaching ? this.teaching(teaching) : exercise ? this.exercise(exercise) : this.look ? this.choosing(this.look) : this.idle()));
  },

  // ---- Before an activity: what can be started.

  idle() {
    const { el } = BertExplorer;
    const asks = Object.entries(this.QUESTIONS).map(([kind, [title, about]]) => {
      const ask = this.button(title, () => this.ask(kind), { "data-id": `ask-${kind}`, class: "bx-room-main" });
      return el("li", {}, ask, el("span", {}, about));
    });
    const form = el("form", {}, ...["happy", "sad", ""].map((label, index) =>
      el("label", {}, `Label ${index + 1}${label ? "" : ", if you like"}`, el("input", { name: `label-${index}`, value: label, maxlength: "30", autocomplete: "off" }))),
      el("button", { type: "submit", class: "bx-room-main", "data-id": "teach" }, "Teach together"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.act("teach", { labels: [...new FormData(form).values()].filter((label) => label.trim()) });
    });
    return [
      el("h3", {}, "What will BERT guess?"),
      el("p", { class: "bx-room-quiet" }, "Everybody guesses before BERT answers. Double-click a word on the page to hide it, or type [MASK] here."),
      el("form", { class: "bx-room-texts" }, ...["a", "b"].map((name) =>
        el("label", {}, name.toUpperCase(), el("input", { name, value: this.text(name), autocomplete: "off" })))),
      el("ul", { class: "bx-room-asks" }, ...asks),
      this.limit(),
      el("h3", {}, "Teach a head together"),
      el("p", { class: "bx-room-quiet" }, "Everybody adds two examples of each label, the room trains one head on all of them, and then tries to fool it."),
      form,
      ...this.past(this.state.past),
      ...this.exercises(this.state.exercises),
    ];
  },

  // A text of the page; while the page is loading, of its link.
  text(name) {
    return document.querySelector(`#text-${name} textarea`)?.value ?? new URLSearchParams(this.place()).get(name) ?? "";
  },

  // The page's link, with the texts on the board.
  asked() {
    const asked = new URLSearchParams(this.place());
    for (const { name, value } of this.board.querySelectorAll(".bx-room-texts input")) {
      if (value.trim()) asked.set(name, value.trim());
      else asked.delete(name);
    }
    return asked;
  },

  // Ask about them; the page goes there too.
  ask(kind) {
    const asked = this.asked().toString();
    if (kind === "target") return this.chooseLook(asked);
    return this.askAbout(kind, asked);
  },

  askAbout(kind, query) {
    if (query !== new URLSearchParams(this.place()).toString()) visit(query);
    return this.act("ask", { kind, query, seconds: this.room.seconds ?? 0 });
  },

  // ---- Teaching together.

  teaching(taught) {
    const { el } = BertExplorer;
    const strike = (one) => this.button("×", () => this.act("strike", { number: one.number }), { "data-id": `strike-${one.number}`, "aria-label": `Take out: ${one.text}` });
    const columns = taught.labels.map((label, index) =>
      el("section", {}, el("h4", {}, label, " ", el("small", {}, String(taught.counts[index]))),
        el("ul", { class: "bx-room-given" }, ...taught.examples.filter((one) => one.label === label).map((one) => el("li", {}, el("span", {}, one.text), strike(one))))));
    const tries = [...taught.tries].reverse().map((one) =>
      el("li", { class: one.fooled ? "bx-fooled" : null }, el("span", {}, el("b", {}, one.name), `: ${one.text}`, el("br"), `BERT says ${one.answer} (${Math.round(100 * one.share)} %), meant as ${one.meant}${one.fooled ? ": fooled!" : ""}`), strike(one)));
    const label = taught.busy ? "Training…" : taught.trained ? "Train again" : "Train the head";
    const train = this.button(label, () => this.act("train"), { "data-id": "train", class: "bx-room-main", ...(taught.busy || taught.missing ? { disabled: "" } : {}) });
    const quality = taught.trained ? `Trained on ${taught.trained_on} examples. Of examples that it did not learn from, it gets ${Math.round(100 * taught.accuracy)} % right.` : taught.missing || "Ready to be trained.";
    return [
      el("h3", {}, taught.trained ? "Fool it" : "Teach BERT together"),
      el("p", { class: "bx-room-quiet", role: "status" }, quality),
      ...(taught.trained ? [el("ul", { class: "bx-room-given bx-room-tries" }, ...tries)] : []),
      el("div", { class: "bx-room-sides" }, ...columns),
      el("nav", {}, train, this.button("End", () => this.act("stop"), { "data-id": "stop" })),
    ];
  },
};

document.addEventListener("keydown", (event) => event.key === "Escape" && BertRoom.board?.matches(":popover-open") && BertRoom.hide());
document.addEventListener("bert:moved", () => BertRoom.room?.following && BertRoom.follow());
addEventListener("DOMContentLoaded", () => {
  BertRoom.resume();
  const answers = new MutationObserver(() => BertRoom.room?.following && BertRoom.follow());
  answers.observe(document.documentElement, { attributeFilter: ["data-answers"] });
});
