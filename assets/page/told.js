// What the server says of itself, in the page's head (explorer/app.py).

export const told = {
  longest: 0, // characters that a QR code can hold
  statuses: "", // the address of Gradio's script for the states of calls
  background: [], // the numbers of calls that nobody waits for
  examples: [], // [A, B] of those that have a B
  questions: {}, // of each choice, by the id of its tab and its own name
  files: {}, // that the dialog offers, by their extension
  ends: {}, // by the number of a call, the function of the page to call when it has ended
  ...JSON.parse(document.getElementById("bx-told")?.textContent ?? "{}"),
};
