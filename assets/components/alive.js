// Detect a lost server: the page says so within five seconds, and goes on by itself when the server is back.
import { host } from "../shared/host.js";

const SILENCE = 4_500; // ms without a sign of life; the server sends one every two seconds (explorer/app.py)
const STARTING = 60_000; // ms after the navigation in which a server that loads its libraries may be silent
const PAUSE = 1_000; // ms between two attempts
const GONE = "The server isn’t responding. This page stays as it is and reconnects automatically.";
let gone = false;
let leaving = false; // the page is being left

// Show a sentence over the page; "" removes it.
function tell(sentence) {
  let line = document.querySelector("#bx-gone");
  if (!line && !sentence) return;
  if (!line) {
    line = document.createElement("p");
    line.id = "bx-gone";
    line.setAttribute("role", "alert");
    document.body.append(line);
  }
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
  const line = new AbortController();
  let asleep = 0;
  const awake = () => {
    clearTimeout(asleep);
    asleep = setTimeout(miss, SILENCE);
  };
  const hangUp = () => line.abort();
  const miss = () => (document.documentElement.dataset.opened || performance.now() > STARTING ? hangUp() : awake());
  ended?.addEventListener("abort", hangUp);
  try {
    awake();
    if (gone) await compare(address, line.signal);
    const answer = await ask(address, { ...options, signal: line.signal });
    if (!answer.ok) throw new Error(String(answer.status));
    lost(false);
    for (const reader = answer.body.getReader(); !(await reader.read()).done; ) awake();
  } catch {
    // the connection broke, or nothing came for too long
  } finally {
    clearTimeout(asleep);
    ended?.removeEventListener("abort", hangUp);
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

window.fetch = async (request, options) => {
  const address = request instanceof Request ? request.url : String(request);
  if (/\/heartbeat\/[^/]*$/.test(address)) {
    stayAlive(address, options);
    return new Response(new ReadableStream({}), { headers: { "Content-Type": "text/event-stream" } });
  }
  const answer = await ask(request, options);
  if (/\/login\/?$/.test(address)) { // Gradio's login page only explains a wrong password
    const refused = answer.status === 429 ? await answer.clone().json() : {};
    tell(refused.error ?? "");
  }
  return answer;
};
