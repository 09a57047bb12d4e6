// Listen to a room's messages; the connection is resumed after an interruption.
import "../components/common.js";

BertExplorer.room = {
  SILENCE: 4_500, // ms without a sign of life (one comes every two seconds) before reconnecting

  // Do something in a room. Resolves to the answer, or throws an error whose message is a sentence to show.
  async act(path, token, body = {}) {
    const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
    let answer;
    try {
      answer = await fetch(`bx/rooms${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    } catch {
      throw new Error("The room does not answer; look whether you are still in the network.");
    }
    const told = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(told.error ?? "That did not work; try again.");
    return told;
  },

  // Call heard(state) now and at each change, lost(true or false) when the connection breaks and is back, and over(why) when
  // the room says that it is over; after any other failure (a busy server, an unaware proxy) it tries again. Returns a
  // function that stops listening.
  listen(word, token, { heard, lost, over }) {
    const sleep = (ms) => new Promise((go) => setTimeout(go, ms));
    let stopped = false;
    let line = null;
    let asleep = 0;
    const awake = () => {
      clearTimeout(asleep);
      asleep = setTimeout(() => line?.abort(), this.SILENCE);
    };

    async function once() {
      line = new AbortController();
      awake();
      const answer = await fetch(`bx/rooms/${word}/news`, { headers: { Authorization: `Bearer ${token}` }, signal: line.signal });
      if (!answer.ok) {
        const told = await answer.json().catch(() => ({}));
        if (told.over) return told.error;
        throw new Error(String(answer.status));
      }
      lost(false);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let held = ""; ; ) {
        const { value, done } = await reader.read();
        if (done) throw new Error("the line ended");
        awake();
        const parts = (held + value).split("\n\n");
        held = parts.pop();
        for (const part of parts.filter((one) => one.startsWith("data: "))) {
          const told = JSON.parse(part.slice(6));
          if (told.over) return told.over;
          if (told.round?.ends) told.round.until = performance.now() + 1000 * (told.round.ends - told.clock); // by our own clock
          heard(told);
        }
      }
    }

    (async () => {
      for (let wait = 300; !stopped; wait = Math.min(2000, wait * 2)) {
        try {
          const why = await once();
          if (!stopped) over(why);
          return;
        } catch {
          if (stopped) return;
          lost(true);
          await sleep(wait);
        }
      }
    })();
    return () => {
      stopped = true;
      clearTimeout(asleep);
      line?.abort();
    };
  },

  // The time that is left for a round, counting down; null if there is no limit or the round is closed.
  left(round) {
    if (!round.open || !round.until) return null;
    const box = BertExplorer.el("span", { class: "bx-left", role: "timer" });
    const tick = () => {
      const seconds = Math.max(0, Math.ceil((round.until - performance.now()) / 1000));
      box.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      if (seconds) setTimeout(() => box.isConnected && tick(), 250);
    };
    tick();
    return box;
  },

  // A text with its blanks as gaps, the asked one marked. Counts blanks on from `from`, and returns the new count.
  gaps(text, asked, from = 0) {
    const { el } = BertExplorer;
    const parts = text.split("[MASK]");
    const nodes = parts.flatMap((part, index) => {
      const last = index === parts.length - 1;
      const mine = from + index === asked;
      return [part, ...(last ? [] : [el("mark", { class: mine ? "bx-gap bx-asked" : "bx-gap" }, mine ? "?" : "\u00a0")])];
    });
    return { nodes, count: parts.length - 1 };
  },

  // The texts of a question.
  texts({ kind, texts, asked }) {
    const { el } = BertExplorer;
    let from = 0;
    return texts.flatMap((text, index) => {
      if (!text) return [];
      const { nodes, count } = this.gaps(text, kind === "blank" ? asked : -1, from);
      from += count;
      const letter = texts[1] ? el("b", { class: "bx-letter" }, index ? "B" : "A") : null;
      return [el("p", { class: "bx-asked-text" }, letter, ...nodes)];
    });
  },
};
