// Whether the server is there: a page says within five seconds that it is not, and goes on by itself when it is back.
window.BertAlive = {
  SILENCE: 4_500, // ms without a sign of life, of which the server gives one every two seconds (explorer/app.py)
  PAUSE: 1_000, // ms until it is asked again
  GONE: "The server does not answer. What you see stays; the page goes on by itself when it is back.",
  gone: false,
  leaving: false, // the page itself goes

  // Shows a sentence over the page until it is taken back by "".
  tell(sentence) {
    let line = document.querySelector("#bx-gone");
    if (!line && !sentence) return;
    if (!line) {
      line = document.createElement("p");
      line.id = "bx-gone";
      line.setAttribute("role", "alert");
      document.body.append(line);
    }
    line.textContent = sentence;
  },

  lost(now) {
    if (this.gone === now || this.leaving) return;
    this.gone = now;
    this.tell(now ? this.GONE : "");
    if (!now && window.BertPage?.drawing) BertPage.drawn(); // what was asked for has no answer any more
  },
};

(() => {
  const ask = window.fetch;
  const sleep = (ms) => new Promise((go) => setTimeout(go, ms));
  addEventListener("pagehide", () => (BertAlive.leaving = true));
  addEventListener("pageshow", () => (BertAlive.leaving = false));

  // Listens to the signs of life of one line, as long as they come.
  async function listen(address, options, ended) {
    const line = new AbortController();
    let asleep = 0;
    const awake = () => {
      clearTimeout(asleep);
      asleep = setTimeout(() => line.abort(), BertAlive.SILENCE);
    };
    const hangUp = () => line.abort();
    ended?.addEventListener("abort", hangUp);
    try {
      awake();
      if (BertAlive.gone) await compare(address, line.signal);
      const answer = await ask(address, { ...options, signal: line.signal });
      if (!answer.ok) throw new Error(String(answer.status));
      BertAlive.lost(false);
      for (const reader = answer.body.getReader(); !(await reader.read()).done; ) awake();
    } catch {
      // the line broke, or nothing came for too long
    } finally {
      clearTimeout(asleep);
      ended?.removeEventListener("abort", hangUp);
    }
  }

  // A server that was started anew knows nothing of this page: it is opened again where it is, which its address says.
  async function compare(address, signal) {
    const answer = await ask(address.replace(/heartbeat\/.*$/, "app_id"), { signal });
    const { app_id } = await answer.json();
    if (app_id !== window.gradio_config.app_id && window.BertLink?.query !== "") location.reload();
  }

  // Gradio's signs of life. Gradio itself does not look at them, and is given a line that never ends.
  async function stayAlive(address, options) {
    const ended = options?.signal;
    while (!ended?.aborted) {
      await listen(address, options, ended);
      if (ended?.aborted) return;
      BertAlive.lost(true);
      await sleep(BertAlive.PAUSE);
    }
  }

  window.fetch = async (request, options) => {
    const address = request instanceof Request ? request.url : String(request);
    if (/\/heartbeat\/[^/]*$/.test(address)) {
      stayAlive(address, options);
      return new Response(new ReadableStream({}), { headers: { "Content-Type": "text/event-stream" } });
    }
    const answer = await ask(request, options);
    if (/\/login\/?$/.test(address)) { // Gradio's page is silent about all but a wrong password
      const refused = answer.status === 429 ? await answer.clone().json() : {};
      BertAlive.tell(refused.error ?? "");
    }
    return answer;
  };
})();
