// What the server says of itself, in the page's head (explorer/app.py).

/**
 * @type {{longest: number, statuses: string}} the characters that a QR
 *   code can hold, and the address of Gradio's script for the states of calls
 */
export const told = { longest: 0, statuses: "", ...JSON.parse(document.getElementById("bx-told")?.textContent ?? "{}") };
