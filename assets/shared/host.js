// What the app's page does for components that may also stand alone, in a file, in a notebook or on a phone.

/** `page`: functions that assets/app.js sets; null where there is no app around the components. */
export const host = { page: null };

// What gives an answer away outside of its own element: marks on the words that the model does not expect, and the outline of the
// cell that a finding is about. assets/answers.js says when they are withheld.
export const withheld = { doubts: false, telling: false, unexpected: undefined }; // the last is {of: tokens, words}

/** Withhold them, or no longer; what shows them hears `bert:withheld`. */
export function withhold(now) {
  if (Object.entries(now).every(([name, value]) => withheld[name] === value)) return;
  Object.assign(withheld, now);
  document.dispatchEvent(new Event("bert:withheld"));
}

/** What a marked word says when it is pointed at. */
export function unexpectedTitle({ word, share, guess, guess_share: sure }) {
  return `Hidden here, “${word}” gets ${share}${guess ? `; BERT would rather say “${guess}” (${sure})` : ", as the first guess"}.`;
}
