// The words that the model does not expect: the sentence about the prediction knows them, and rows of tokens mark them.

/** @type {{found: {of: string, words: any[]} | undefined}} the last that were found */
export const unexpected = { found: undefined };

/** Keep new ones, and have the rows marked. */
export function expectNot(found) {
  unexpected.found = found;
  document.dispatchEvent(new Event("bert:unexpected"));
}

/** What a marked word says when it is pointed at. */
export function unexpectedTitle({ word, share, guess, guess_share: sure }) {
  return `Hidden here, “${word}” gets ${share}${guess ? `; BERT would rather say “${guess}” (${sure})` : ", as the first guess"}.`;
}
