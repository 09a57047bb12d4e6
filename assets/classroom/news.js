// @ts-check
// What one does in a room, and its messages; the connection is resumed after an interruption.
import { ask } from "../shared/asking.js";

const SILENCE = 4_500; // ms without a sign of life (one comes every two seconds) before reconnecting

/**
 * Do something in a room. Throws an error whose message is a sentence to show.
 * @param {string} path of the room, by its word, and of what is done; "" opens a room
 * @param {string} token of the person who does it, "" before there is one
 * @param {Record<string, any>} [body]
 * @returns {Promise<any>} the answer
 */
export function send(path, token, body = {}) {
  return ask(`bx/rooms${path}`, { token, body, gone: "The room does not answer. Check that you are still on the network." });
}

/**
 * Listen to a room. After a failure (a busy server, an unaware proxy) it tries again, unless the room says that it is over.
 * @param {string} word
 * @param {string} token
 * @param {object} calls
 * @param {(state: any) => void} calls.heard called now and at each change
 * @param {(now: boolean) => void} calls.lost the connection broke, or is back
 * @param {(why: string) => void} calls.over the room is over
 * @returns {() => void} stops listening
 */
export function listen(word, token, { heard, lost, over }) {
  const sleep = (/** @type {number} */ ms) => new Promise((go) => setTimeout(go, ms));
  let stopped = false;
  /** @type {AbortController | null} */
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
}
