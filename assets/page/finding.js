// What the finder finds: which entries fit some words, the best first.

const FIELDS = { title: 3, words: 2.5, kind: 2, near: 0.8, where: 0.6, text: 0.2 };
const WORTH = { answer: 1.2, view: 1.5, setting: 1.6, action: 1.8, lesson: 1.1, layer: 1, head: 0.9, example: 0.8, step: 0.7, term: 0.9, guide: 0.6 };
const OF_A_KIND = { guide: 2, answer: 2, step: 2, view: Infinity }; // entries that are shown, of other kinds three
const split = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}|(?<=\w)['’](?=\w)/gu, "").split(/[^\p{L}\p{N}#.[\]]+|\.(?!\d)/u).filter(Boolean);
const stemsOf = (text) => split(text).map(stem);
const SMALL = new Set(stemsOf("a about an and another any are at be been bert between but by can could did do does exactly for from get got has have how i if in into is it its " +
  "just like many me mean means much my of on or our per please s see she should show so that the their there they this those to us use used using want was we what when where " +
  "which who whose why will with without would you your"));
const LITTLE = 0.3; // how much a word counts that nearly all entries have
const SAME = 0.5; // how much a word counts that means the same or is spelled almost the same, and the words of a phrase apart
const LONGEST = 7; // words of a phrase
const RARE = 15; // entries with a word that counts fully

// The beginning that forms of a word share: tokens, tokenize and token; words of up to four letters stay.
function stem(word) {
  if (word.length < 5) return word.replace(/(?<=\w{2}[^s])s$/, "");
  return word.replace(/(?:isations?|izations?|ations?|ings?|ise[ds]?|ize[ds]?|ions?|ers?|ed|es|s|e)$/, (end, at) => (at >= 4 ? "" : end.replace(/^e?s$/, "")));
}

/**
 * An index of entries and concepts as the server sends them (explorer/guide/finding.py). Of the text of an entry `read`
 * characters count: what is said first is what it is about.
 * @param {Function} MiniSearch
 * @param {{ entries: object[], concepts: string[][] }} sent
 * @param {{ most?: number, ofAKind?: number, read?: number }} limits
 * @returns {(query: string) => object[]} the entries that fit best, few of a kind but for views
 */
export function indexOf(MiniSearch, { entries, concepts }, { most = 12, ofAKind = 0, read = 400 } = {}) {
  const join = (text) => stemsOf(text).join("");
  const phrases = new Set(entries.flatMap(({ words }) => words.split(", ").map(join)));
  const signs = new Map(); // of words and phrases: a sign for each concept that they name
  concepts.forEach((row, number) => row.map(join).forEach((phrase) => signs.set(phrase, [...(signs.get(phrase) ?? []), `~${number}`])));
  const runs = (stems, at) => Array.from({ length: LONGEST }, (_, less) => stems.slice(at, at + LONGEST - less)); // the longest first
  const short = (text) => text.split(", ").filter((phrase) => split(phrase).length < 3).join(", ");
  const tokenize = (text, field) => {
    const stems = stemsOf(field === "words" ? short(text) : text);
    if (field === "text") return stems;
    const typed = field === "title" ? split(text).map((word) => `'${word}`) : []; // for words that are not spelled right
    const meant = stems.flatMap((_, at) => runs(stems, at)).flatMap((run) => signs.get(run.join("")) ?? []);
    return [...stems, ...typed, ...new Set(meant), ...(field === "words" ? text.split(", ").map((phrase) => `=${join(phrase)}`) : [])];
  };
  const extractField = (entry, name) => {
    if (name === "where" && entry.kind === "head") return ""; // else the shorter sentence wins
    if (name === "near") return `${entry.near ?? ""}, ${entry.words}`; // words of long phrases say less
    return name === "text" ? entry.text?.slice(0, read) : entry[name];
  };
  const index = new MiniSearch({ fields: Object.keys(FIELDS), processTerm: (term) => term, extractField, tokenize });
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  const bm25 = { k: 1.2, b: 0.2, d: 0.5 }; // an entry with more synonyms is hardly worth less
  const prefix = (term) => /^[^~=']./u.test(term);
  const ask = (terms, fuzzy = false) => index.search(terms.join(" "), { tokenize: (text) => text.split(" "), boost: FIELDS, prefix, bm25, fuzzy });

  // A query as phrases that some entry or concept has, and words; small words only where there is nothing else.
  const unitsOf = (stems) => {
    const units = [];
    const telling = (unit) => unit.some((word) => !SMALL.has(word));
    const known = (run) => (phrases.has(run.join("")) || signs.has(run.join(""))) && (telling(run) || run.length === stems.length);
    for (let at = 0; at < stems.length; at += units.at(-1).length) units.push(runs(stems, at).find((run) => run.length === 1 || known(run)));
    const few = units.filter((unit) => unit.length > 1 || telling(unit));
    return few.length ? few : units;
  };
  // Entries that have a unit or what means the same, with their score and 1; of a phrase also those with its words, with less.
  const hitsOf = (unit) => {
    const [phrase, telling] = [unit.join(""), unit.filter((word) => !SMALL.has(word))];
    const hits = new Map();
    const add = (found, worth) => found.forEach(({ id, score }) => hits.set(id, [Math.max(hits.get(id)?.[0] ?? 0, worth * score), 1]));
    if (unit.length === 1) add(ask(unit), 1);
    add(ask([`=${phrase}`]), 1 + unit.length);
    for (const sign of signs.get(phrase) ?? []) add(ask([sign]), SAME);
    if (unit.length === 1 && !hits.size && phrase.length > 3) add(ask([phrase, `'${phrase}`], 0.25), SAME);
    const parts = unit.length > 1 && telling.length ? ask(telling) : [];
    for (const { id, score, queryTerms } of parts) if (!hits.has(id)) hits.set(id, [score, (SAME * queryTerms.length) / telling.length]);
    return hits;
  };
  return (query) => {
    const [sums, counts] = [new Map(), {}];
    let all = 0;
    for (const unit of unitsOf(stemsOf(query))) {
      const hits = hitsOf(unit);
      const full = [...hits.values()].filter(([, share]) => share === 1).length;
      const rare = Math.log(entries.length / full) / Math.log(entries.length / RARE);
      const weight = Math.max(LITTLE, Math.min(1, rare));
      if (hits.size) all += weight;
      for (const [id, [score, share]] of hits) {
        const [sum, covered] = sums.get(id) ?? [0, 0];
        sums.set(id, [sum + weight * share * score, covered + weight * share]);
      }
    }
    const worth = ([id, [sum, covered]]) => {
      const { kind } = entries[id];
      const fit = (covered / all) ** (kind === "action" ? 1 : 2); // an action may be asked with what it is done to
      return [entries[id], sum * fit * WORTH[kind]];
    };
    const found = [...sums].map(worth).sort((one, other) => other[1] - one[1]).map(([entry]) => entry);
    const few = ({ kind }) => (counts[kind] = (counts[kind] ?? 0) + 1) <= (ofAKind || (OF_A_KIND[kind] ?? 3));
    return found.filter(few).slice(0, most);
  };
}
