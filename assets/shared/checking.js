// Exercises of lessons: the server's check of what a page shows, and the link that proves it.

const PATIENCE = 60_000; // ms: the first check loads the model, and some train a head
const GONE = "The app does not answer; try again in a moment.";
const FAILED = "That could not be checked; try again in a moment.";
const NAME = /^#exercise=([\w.-]+)$/;

/**
 * Have the server check an exercise. Throws an error whose message is a sentence to show.
 * @param {string} name of the exercise, such as 03-one-head.1
 * @param {string} query of the link to what is shown
 * @returns {Promise<{done: boolean, told: string, query: string}>}
 */
export async function check(name, query) {
  let answer;
  try {
    answer = await fetch(`bx/exercises/${encodeURIComponent(name)}?${query}`, { signal: AbortSignal.timeout(PATIENCE) });
  } catch {
    throw new Error(GONE);
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.error ?? FAILED);
  return told;
}

/**
 * The link to what solved an exercise; its end says which one.
 * @param {string} address of the app
 */
export function proof(name, query, address) {
  return `${address}?${query}#exercise=${name}`;
}

/**
 * What the end of a proof's address names.
 * @returns {string} the exercise's name, "" if it is no proof
 */
export function exerciseIn(hash) {
  return NAME.exec(hash)?.[1] ?? "";
}
