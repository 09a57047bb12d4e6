// What the server says of itself, in the page's head (explorer/app.py).

/**
 * @type {{longest: number, statuses: string, background: number[], examples: string[][],
 *   questions: Record<string, Record<string, string>>, files: Record<string, string>, ends: Record<number, string>}} the characters that a QR code
 *   can hold, the address of Gradio's script for the states of calls, the numbers of calls that nobody waits for, the texts of the
 *   examples with a B, the question of each choice by the id of its tab and its own name, the files that the dialog offers, by their extension, and, by the
 *   number of a call, the function of the page to call when it has ended
 */
export const told = {
  ...{ longest: 0, statuses: "", background: [], examples: [], questions: {}, files: {}, ends: {} },
  ...JSON.parse(document.getElementById("bx-told")?.textContent ?? "{}"),
};
