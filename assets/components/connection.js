// Between the page and its server: every call is answered, answers are shown in the order of the calls, and a lost server is detected:
// the page says so within five seconds, and goes on by itself when the server is back.
import { el } from "../shared/dom.js";
import { host } from "../shared/mounting.js";

const SILENCE = 4_500; // ms without a sign of life; the server sends one every two seconds (explorer/app.py)
const STARTING = 60_000; // ms after the navigation in which a server that loads its libraries may be silent
const PAUSE = 1_000; // ms between two attempts
const GONE = "The server isn’t responding. This page stays as it is and reconnects automatically.";
const END = "\n\n";
const CLOSED = `data: {"msg": "close_stream"}${END}`;
const line = el("p", { id: "bx-gone", role: "alert" });
let calls = Promise.resolve(); // the last one
let gone = false;
let leaving = false; // the page is being left

// Show a sentence over the page; "" removes it.
function tell(sentence) {
  if (sentence && !line.isConnected) document.body.append(line);
  line.textContent = sentence;
}

function lost(now) {
  if (gone === now || leaving) return;
  gone = now;
  tell(now ? GONE : "");
  if (!now) host.page?.resume(); // the last request will not be answered
}

const ask = window.fetch;
const sleep = (ms) => new Promise((go) => setTimeout(go, ms));
addEventListener("pagehide", () => (leaving = true));
addEventListener("pageshow", () => (leaving = false));

// Listen to one stream for signs of life, as long as they come.
async function listen(address, options, ended) {
  const call = new AbortController();
  const signal = AbortSignal.any([call.signal, ...(ended ? [ended] : [])]);
  let asleep = 0;
  const awake = () => {
    clearTimeout(asleep);
    asleep = setTimeout(() => (document.documentElement.dataset.opened || performance.now() > STARTING ? call.abort() : awake()), SILENCE);
  };
  try {
    awake();
    if (gone) await compare(address, signal);
    const answer = await ask(address, { ...options, signal });
    if (!answer.ok) throw new Error(String(answer.status));
    lost(false);
    for (const reader = answer.body.getReader(); !(await reader.read()).done; ) awake();
  } catch {
    // the connection broke, or nothing came for too long
  } finally {
    clearTimeout(asleep);
  }
}

// A restarted server does not know this page: reload it; its address says where it is.
async function compare(address, signal) {
  const answer = await ask(address.replace(/heartbeat\/.*$/, "app_id"), { signal });
  const { app_id } = await answer.json();
  if (app_id !== window.gradio_config.app_id && host.page?.query() !== "") location.reload();
}

// Gradio's own heartbeat. Gradio itself ignores its content, and gets a stream that never ends.
async function stayAlive(address, options) {
  const ended = options?.signal;
  while (!ended?.aborted) {
    await listen(address, options, ended);
    if (ended?.aborted) return;
    lost(true);
    await sleep(PAUSE);
  }
}

// ---- Calls and answers.

// Send calls one after another: Gradio uses a connection for each, and a later one may arrive first.
function inTurn(request, options) {
  const answer = calls.then(() => ask(request, ...options));
  calls = answer.catch(() => {});
  return answer;
}

// Deliver messages one by one: Gradio mixes up answers that arrive together.
// The stream stays open as long as the page (explorer/page/blocks.py). When it breaks, as when a laptop sleeps, Gradio takes
// it for open and waits; told that it is closed, Gradio opens another with the next call.
function oneByOne(stream) {
  const [reader, encoder] = [stream.pipeThrough(new TextDecoderStream()).getReader(), new TextEncoder()];
  const read = () => reader.read().catch(() => ({ done: true })); // it broke
  return new ReadableStream({
    async start(controller) {
      const send = (message) => controller.enqueue(encoder.encode(message));
      let begun = "";
      for (let part = await read(); !part.done; part = await read()) {
        const messages = (begun + part.value).split(END);
        begun = messages.pop();
        for (const message of messages) {
          send(message + END);
          if (message.includes('"process_completed"')) await sleep(0);
        }
      }
      send(CLOSED);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

window.fetch = async (request, ...options) => {
  const address = request instanceof Request ? request.url : String(request);
  if (/\/heartbeat\/[^/]*$/.test(address)) {
    stayAlive(address, ...options);
    return new Response(new ReadableStream({}), { headers: { "Content-Type": "text/event-stream" } });
  }
  if (address.includes("/queue/join")) return inTurn(request, options);
  const answer = await ask(request, ...options);
  if (/\/login\/?$/.test(address)) { // Gradio's login page only explains a wrong password
    const refused = answer.status === 429 ? await answer.clone().json() : {};
    tell(refused.error ?? "");
  }
  return answer.body && address.includes("/queue/data") ? new Response(oneByOne(answer.body), answer) : answer;
};
