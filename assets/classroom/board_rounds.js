// A round on the board: the question, how many have answered, and, when the teacher shows them, the answers.
import "./board.js";

Object.assign(window.BertRoom, {
  LIMITS: [30, 60, 90], // seconds that a teacher may give

  round(round) {
    const { el } = BertExplorer;
    return [
      el("h3", {}, round.asks),
      ...this.question(round),
      this.progress(round),
      ...(round.shown ? [this.sides(round)] : []),
      ...(round.revealed ? [this.closest(round)] : []),
      el("nav", {}, ...this.steps(round)),
    ];
  },

  question(round) {
    const { el } = BertExplorer;
    if (round.kind === "target") {
      return [el("p", { class: "bx-asked-text bx-room-tokens" }, ...round.options.map((text, index) => el("span", { class: index === round.asked ? "bx-asks" : null }, text)))];
    }
    if (round.kind !== "lesson") return BertExplorer.room.texts(round);
    const text = el("div", { class: "bx-lesson-text" });
    text.innerHTML = round.text; // from our own files: Markdown without HTML
    return [text, ...(round.shown ? [] : [el("ul", { class: "bx-room-options" }, ...round.options.map((one) => el("li", {}, one)))])];
  },

  // How many have answered, and for how long the others still may.
  progress(round) {
    const { el } = BertExplorer;
    const here = this.state.people.length;
    const told = el("b", {}, `${round.guessed} of ${here}`);
    const late = round.open || round.shown ? null : " The time is over.";
    return el("p", { class: "bx-room-progress", role: "status" }, el("span", {}, told, ` ${round.guessed === 1 ? "has" : "have"} answered.`, late), BertExplorer.room.left(round));
  },

  bars(rows) {
    const { el } = BertExplorer;
    return el("ol", { class: "bx-room-bars" }, ...rows.map(({ id, name, share, told, right }) =>
      el("li", { class: right ? "bx-right" : null }, el("span", {}, name, right ? " ✓" : null), el("i", { "data-bar": id, style: `width:${(100 * share).toFixed(1)}%` }), el("em", {}, told))));
  },

  sides(round) {
    const { el } = BertExplorer;
    const most = Math.max(1, ...round.answers.map((one) => one.count));
    const count = (name) => round.answers.find((one) => one.name === name)?.count ?? 0;
    const named = round.kind === "lesson" ? round.options.map((name) => ({ name, count: count(name) })) : round.answers;
    const room = named.map((one) => ({ id: `room ${one.name}`, name: one.name, share: one.count / most, told: String(one.count), right: one.name === round.right }));
    if (round.kind === "lesson") return el("div", { class: "bx-room-lesson" }, this.bars(room));
    const best = (round.best ?? []).map(([name, share]) => ({ id: `bert ${name}`, name, share: share / round.best[0][1], told: `${Math.round(100 * share)} %` }));
    return el("div", { class: "bx-room-sides" },
      el("section", {}, el("h4", {}, "The room"), this.bars(room)),
      el("section", { class: "bx-room-bert" }, el("h4", {}, "BERT"), round.revealed ? this.bars(best) : el("p", { class: "bx-room-hidden" }, "?")));
  },

  closest({ kind, closest, answers, right, guessed }) {
    const { el } = BertExplorer;
    if (kind === "lesson") return el("p", { class: "bx-room-closest" }, `${answers.find((one) => one.name === right)?.count ?? 0} of ${guessed} are right.`);
    if (!closest.length) return el("p", {}, "Nobody’s guess is among BERT’s answers.");
    const told = closest.flatMap(([name, guess, rank], index) => [index ? ", " : "", el("b", {}, name), ` (“${guess}”, number ${rank})`]);
    return el("p", { class: "bx-room-closest" }, "Closest: ", ...told, ".");
  },

  // ---- Before a round.

  // The time for each round, also those of a lesson.
  limit() {
    const { el } = BertExplorer;
    const choices = [0, ...this.LIMITS].map((seconds) => el("option", { value: String(seconds) }, seconds ? `${seconds} seconds` : "as long as it takes"));
    const box = el("select", { "data-id": "limit" }, ...choices);
    box.value = String(this.room.seconds ?? 0);
    box.addEventListener("change", () => {
      this.room.seconds = Number(box.value);
      this.keep();
    });
    return el("label", { class: "bx-room-limit" }, "Time for a round", box);
  },

  // The head and the token of "Where does a head look?": at first those that the page tells of.
  async chooseLook(query) {
    this.wrong = "";
    try {
      const found = await BertExplorer.room.act(`/${this.room.word}/look`, this.room.key, { query });
      this.look = { query, ...found };
    } catch (error) {
      this.wrong = error.message;
    }
    if (this.room) this.draw();
  },

  choosing(look) {
    const { el } = BertExplorer;
    const change = (name, value) => {
      look[name] = value;
      this.draw();
    };
    const tokens = look.tokens.map((text, index) => this.button(text, () => change("token", index), { "data-id": `token-${index}`, "aria-pressed": String(index === look.token) }));
    const stepper = (name, label, most) => {
      const box = el("select", { "data-id": name }, ...Array.from({ length: most }, (_, index) => el("option", {}, String(index + 1))));
      box.value = String(look[name]);
      box.addEventListener("change", () => change(name, Number(box.value)));
      return el("label", {}, label, box);
    };
    const ask = () => {
      const asked = new URLSearchParams(look.query);
      for (const name of ["layer", "head", "token"]) asked.set(name, look[name]);
      this.look = null;
      this.askAbout("target", asked.toString());
    };
    const back = () => {
      this.look = null;
      this.draw();
    };
    return [
      el("h3", {}, "Where does a head look?"),
      el("p", { class: "bx-room-quiet" }, "The class picks the token that the marked one looks at most. Mark another one, or take another head."),
      el("p", { class: "bx-asked-text bx-room-tokens" }, ...tokens),
      el("p", { class: "bx-room-look" }, stepper("layer", "Layer", look.layers), stepper("head", "Head", look.heads)),
      el("nav", {}, this.button("Ask", ask, { "data-id": "ask", class: "bx-room-main" }), this.button("Back", back, { "data-id": "back" })),
    ];
  },

  // ---- Afterwards.

  // The rounds that are over, the latest first.
  past(rounds) {
    const { el } = BertExplorer;
    if (!rounds.length) return [];
    const rows = [...rounds].reverse().map((one) => {
      const right = one.right === null ? "" : `, ${one.right} right`;
      const most = Math.max(1, ...one.answers.map(({ count }) => count));
      const answers = one.answers.map(({ name, count }) => ({ id: `past ${one.number} ${name}`, name, share: count / most, told: String(count), right: name === one.expected }));
      const told = one.expected ? el("p", { class: "bx-room-quiet" }, one.kind === "lesson" ? "Right: " : "BERT’s first answer: ", el("b", {}, one.expected)) : null;
      return el("details", { "data-id": `past-${one.number}` },
        el("summary", {}, el("span", {}, `${one.number}. ${one.asks}`), el("small", {}, `${one.guessed} answered${right}`)),
        ...(one.kind === "lesson" ? [] : BertExplorer.room.texts(one)), this.bars(answers), told);
    });
    return [el("h3", {}, "Past rounds"), el("div", { class: "bx-room-past" }, ...rows)];
  },

  // What the teacher may do next.
  steps(round) {
    const { el } = BertExplorer;
    const { kind, open, shown, revealed } = round;
    if (revealed) return [this.button("Next", () => this.act("stop"), { "data-id": "next", class: "bx-room-main" })];
    const guesses = this.button("Show the room’s answers", () => this.act("guesses"), { "data-id": "guesses", class: "bx-room-main" });
    const reveal = this.button(kind === "lesson" ? "Show the right answer" : "Show BERT’s answer", () => this.act("reveal"), { "data-id": "reveal", class: shown ? "bx-room-main" : null });
    const limits = [...this.LIMITS, ...(round.until ? [0] : [])].map((seconds) => this.button(seconds ? `${seconds} s` : "no limit", () => this.act("time", { seconds }), { "data-id": `limit-${seconds}` }));
    const stop = this.button("Stop", () => this.act("stop"), { "data-id": "stop" });
    return [...(shown ? [] : [guesses]), reveal, stop, ...(open ? [el("span", { class: "bx-room-limits" }, "Close the answers in ", ...limits)] : [])];
  },
});
