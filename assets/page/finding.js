// What the finder finds: which entries fit some words, the best first.

const FIELDS = { title: 3, words: 2.5, where: 0.6, text: 0.2 };
const WORTH = { answer: 1.2, view: 1.5, setting: 1.6, action: 1.8, lesson: 1.1, layer: 1, head: 0.9, example: 0.8, step: 0.7, term: 0.9, guide: 0.6 };
const SMALL = new Set(("a about an and another any are at be been bert between but by can did do does for from get has have how many much i if in into is it its " +
  "me mean means my of on or our she show that the their there they this those to use used using was we were what when where which " +
  "who whose will with without would you your").split(" "));
const ALL = 3; // how much more an entry with all words is worth than one with some
const MOST = 12; // entries that are shown
const OF_A_KIND = 3; // of them, heads, steps and so on

// The beginning that forms of a word share: tokens, tokenize and token; words of up to four letters stay.
function stem(word) {
  const low = word.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
  if (low.length < 5) return low.replace(/(?<=\w{2}[^s])s$/, "");
  return low.replace(/(?:isations?|izations?|ations?|ings?|ise[ds]?|ize[ds]?|ions?|ers?|ed|es|s|e)$/, (end, at) => (at >= 4 ? "" : end.replace(/^e?s$/, "")));
}

/**
 * An index of entries as the server sends them (explorer/server/finding.py).
 * @param {Function} MiniSearch
 * @param {{kind: string, title: string, where: string, words: string, go: any}[]} entries
 * @returns {(query: string) => object[]} the entries that fit best, at most three of a kind but for views
 */
export function indexOf(MiniSearch, entries) {
  const processTerm = (term) => stem(term) || null;
  const extractField = (entry, name) => {
    if (name === "where" && entry.kind === "head") return ""; // else the shorter sentence wins
    if (name !== "words") return entry[name] ?? "";
    return `${entry.words}, ${entry.words.split(", ").map((words) => words.replaceAll(" ", "")).join(", ")}`; // darkmode, heatmap
  };
  const index = new MiniSearch({ fields: Object.keys(FIELDS), processTerm, extractField, tokenize: (text) => text.split(/[^\p{L}\p{N}#.[\]]+|\.(?!\d)/u).filter(Boolean) });
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  const search = (query, combineWith, fuzzy) => index.search(query, {
    combineWith,
    bm25: { k: 1.2, b: 0.2, d: 0.5 }, // an entry with more synonyms is hardly worth less
    boost: FIELDS,
    prefix: (term) => term.length > 1,
    fuzzy,
    boostDocument: (id) => WORTH[entries[id].kind] ?? 1,
  });
  return (query) => {
    const asked = query.trim();
    const telling = asked.split(/\s+/).filter((word) => !SMALL.has(word.toLowerCase())).join(" ") || asked;
    const near = (term) => (term.length > 3 ? 0.25 : false);
    const scores = new Map();
    const add = (found, worth) => found.forEach(({ id, score }) => scores.set(id, Math.max(scores.get(id) ?? 0, worth * score)));
    add(search(telling, "AND", false), ALL);
    if (telling.includes(" ")) add(search(telling.replaceAll(" ", ""), "AND", false), ALL); // heat map
    add(search(telling, "AND", near), ALL / 2);
    add(search(telling, "OR", near), 1);
    const hits = [...scores].sort((one, other) => other[1] - one[1]).map(([id]) => ({ id }));
    const counts = {};
    const few = [...new Set(hits.map(({ id }) => id))].map((id) => entries[id]).filter(({ kind }) => {
      counts[kind] = (counts[kind] ?? 0) + 1;
      return kind === "view" || counts[kind] <= OF_A_KIND;
    });
    return few.slice(0, MOST);
  };
}
