// The words that the model does not expect: the sentence about the prediction knows them, and rows of tokens mark them.

/** @type {{found: {of: string, words: any[]} | undefined, withheld: boolean}} the last that were found; none are marked while withheld */
export const unexpected = { found: undefined, withheld: false };

/** Keep new ones, and have the rows marked. */
export function expectNot(found) {
  unexpected.found = found;
  document.dispatchEvent(new Event("bert:unexpected"));
}

/** Mark them, or mark none. */
export function withholdUnexpected(withheld) {
  if (unexpected.withheld === withheld) return;
  unexpected.withheld = withheld;
  document.dispatchEvent(new Event("bert:unexpected"));
}

/** What a marked word says when it is pointed at. */
export function unexpectedTitle({ word, share, guess, guess_share: sure }) {
  return `Hidden here, “${word}” gets ${share}${guess ? `; BERT would rather say “${guess}” (${sure})` : ", as the first guess"}.`;
}
