// What one does in a room, and its messages; the connection is resumed after an interruption.
import { ask } from "../shared/asking.js";

const SILENCE = 4_500; // ms without a sign of life (one comes every two seconds) before reconnecting

/**
 * Do something in a room, and get the answer. Throws an error whose message is a sentence to show. `path` is that of the room, by its
 * word, and of what is done, "" to open a room; `token` that of the person who does it, "" before there is one.
 */
export const send = (path, token, body = {}) => ask(`bx/rooms${path}`, { token, body, gone: "The room does not answer. Check that you are still on the network." });

/**
 * Listen to a room, until the function that it returns is called. After a failure (a busy server, an unaware proxy) it tries again,
 * unless the room is over: `over(why)`. `heard(state)` is called now and at each change, `lost(now)` when the connection breaks or is back.
 */
export function listen(word, token, { heard, lost, over }) {
  const sleep = (ms) => new Promise((go) => setTimeout(go, ms));
  let stopped = false;
  let line = null;
  let asleep = 0;
  const awake = () => {
    clearTimeout(asleep);
    asleep = window.setTimeout(() => line?.abort(), SILENCE);
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
        heard(told);
      }
    }
  }

  (async () => {
    for (let wait = 300; !stopped; wait = Math.min(2000, wait * 2)) {
      const why = await once().catch(() => null);
      if (stopped) return;
      if (why !== null) return over(why);
      lost(true);
      await sleep(wait);
    }
  })();
  return () => {
    stopped = true;
    clearTimeout(asleep);
    line?.abort();
  };
}
