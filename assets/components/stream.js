// Between Gradio's page and its server: every call is answered, and answers are shown in the order of the calls.

const ask = window.fetch;
const END = "\n\n";
const CLOSED = `data: {"msg": "close_stream"}${END}`;
let calls = Promise.resolve();

const aMoment = () => new Promise((resolve) => setTimeout(resolve));

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
  const [reader, decoder, encoder] = [stream.getReader(), new TextDecoder(), new TextEncoder()];
  let [messages, begun, failure] = [[], "", null];

  async function read() {
    try {
      const { done, value } = await reader.read();
      if (done) return [CLOSED, null];
      const parts = (begun + decoder.decode(value, { stream: true })).split(END);
      begun = parts.pop();
      return parts.map((part) => part + END);
    } catch (error) {
      failure = error;
      return [CLOSED, null];
    }
  }

  return new ReadableStream({
    async pull(controller) {
      while (!messages.length) messages = await read();
      const message = messages.shift();
      if (message === null) return failure ? controller.error(failure) : controller.close();
      controller.enqueue(encoder.encode(message));
      if (message.includes('"process_completed"')) await aMoment();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

window.fetch = async (request, ...options) => {
  const address = request instanceof Request ? request.url : String(request);
  if (address.includes("/queue/join")) return inTurn(request, options);
  const response = await ask(request, ...options);
  if (!response.body || !address.includes("/queue/data")) return response;
  return new Response(oneByOne(response.body), response);
};
