// A lesson's step that the class is asked: while phones follow, the panel shows how many have answered, then what.
window.BertClass = {
  step: null, // { lesson, number, options, rest, tell }: the step that the panel shows
  given: null, // { name, give, told }: the exercise in the panel while a room is open, its button and its count
  seen: new Set(), // "lesson.number" of the steps whose answer the class has seen
  stage: "", // what `rest` was built for

  // Whether the class is asked, not whoever sits at this page.
  asks(lesson, at) {
    return Boolean(BertRoom.room?.following && lesson.steps[at].options.length && !this.has(lesson, at));
  },

  has(lesson, at) {
    return this.seen.has(`${lesson.name}.${at + 1}`);
  },

  // While a room is open, a button for the round that fits a step.
  round({ round }) {
    if (!BertRoom.room || !round) return "";
    const open = () => {
      BertRoom.show();
      if (round.kind === "target") BertRoom.chooseLook(round.query);
      else BertRoom.act("ask", { ...round, seconds: BertRoom.room.seconds ?? 0 });
    };
    return BertRoom.button(`Round on the board: ${BertRoom.QUESTIONS[round.kind][0]}`, open, { class: "bx-class-round" });
  },

  // While a room is open, a button that gives the class a step's exercise, and how many have done it.
  exercise({ exercise }) {
    this.given = null;
    if (!BertRoom.room || !exercise) return "";
    const told = BertExplorer.el("span", { role: "status" });
    const give = BertRoom.button("Give it to the class", () => this.give(exercise.name), { class: "bx-class-do" });
    this.given = { name: exercise.name, give, told };
    this.countDone();
    return BertExplorer.el("div", { class: "bx-class-exercise" }, give, told);
  },

  give(name) {
    if (BertRoom.state?.exercise?.name === name) BertRoom.show();
    else BertRoom.act("give", { exercise: name });
  },

  countDone() {
    if (!this.given) return;
    const { give, name, told } = this.given;
    const known = BertRoom.state?.exercises.find((one) => one.name === name);
    give.textContent = BertRoom.state?.exercise?.name === name ? "On the board" : "Give it to the class";
    told.textContent = known ? `${known.solved.length} of ${BertRoom.state.people.length} have done it.` : "";
  },

  // Ask the class. `rest` is where the panel shows it, and tell() shows the answer there.
  take(lesson, at, rest, tell) {
    this.step = { lesson: lesson.name, number: at + 1, options: lesson.steps[at].options, rest, tell };
    this.stage = "";
    if (this.asked()) this.draw(); // it is asked already: the page was loaded again
    else this.ask();
  },

  ask() {
    const { lesson, number } = this.step;
    return BertRoom.act("ask", { kind: "lesson", lesson, step: number, seconds: BertRoom.room.seconds ?? 0 });
  },

  // The panel shows another step, or none: the class is no longer asked this one.
  leave() {
    const was = this.step;
    this.step = null;
    if (BertRoom.room && BertRoom.state?.exercise) BertRoom.act("stop");
    else if (was && BertRoom.room && (BertRoom.state?.round?.kind ?? "lesson") === "lesson") BertRoom.act("stop");
  },

  forget() {
    const was = this.step;
    this.step = null;
    this.seen.clear();
    this.given = null;
    if (was) document.dispatchEvent(new CustomEvent("bert:asked"));
  },

  // The question of this step, if it is what the room is at.
  asked() {
    const round = BertRoom.state?.round;
    return round?.kind === "lesson" && round.lesson === this.step?.lesson && round.step === this.step.number ? round : null;
  },

  draw() {
    this.countDone();
    if (!this.step?.rest.isConnected || this.has({ name: this.step.lesson }, this.step.number - 1)) return;
    const round = this.asked();
    if (round?.revealed) {
      this.seen.add(`${round.lesson}.${round.step}`);
      this.step.tell();
      this.count(round);
      return;
    }
    const stage = JSON.stringify([round?.number, round?.shown, round?.open, round?.until, BertRoom.wrong]);
    if (stage !== this.stage) this.build(round); // a button that is about to be pressed stays otherwise
    this.stage = stage;
    const told = this.step.rest.querySelector("[data-told]");
    if (told && round) told.textContent = `${round.guessed} of ${BertRoom.state.people.length} have answered.`;
  },

  build(round) {
    const { el } = BertExplorer;
    const { rest, options } = this.step;
    const wrong = BertRoom.wrong ? [el("p", { role: "alert" }, BertRoom.wrong)] : [];
    const button = (text, press, kind = "") => BertRoom.button(text, press, { class: `bx-class-do ${kind}`.trim() });
    const listed = options.map((one) => el("p", { class: "bx-lesson-option" }, one.text));
    if (!round) return rest.replaceChildren(...wrong, ...listed, button("Ask the class", () => this.ask(), "bx-class-main"));
    const guesses = round.shown ? [] : [button("Show the answers", () => BertRoom.act("guesses"), "bx-class-main")];
    const reveal = button("Show which is right", () => BertRoom.act("reveal"), round.shown ? "bx-class-main" : "");
    const board = button("On the board", () => BertRoom.show());
    const progress = el("p", { class: "bx-class-progress", role: "status" }, el("span", { "data-told": "" }), BertExplorer.room.left(round));
    rest.replaceChildren(...wrong, ...listed, progress, el("div", { class: "bx-class-steps" }, ...guesses, reveal, board));
    if (round.shown) this.count(round);
  },

  // How many chose each option.
  count(round) {
    const { el } = BertExplorer;
    [...this.step.rest.querySelectorAll(".bx-lesson-option")].forEach((box, index) => {
      const count = round.answers.find((one) => one.name === this.step.options[index].text)?.count ?? 0;
      box.append(el("em", {}, String(count)));
    });
  },
};
