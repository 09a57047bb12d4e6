// What the finder finds: which entries fit some words, the best first.

const FIELDS = { title: 3, words: 2.5, kind: 2, near: 0.8, where: 0.6, text: 0.2 };
const WORTH = { answer: 1.2, view: 1.5, setting: 1.6, action: 1.8, lesson: 1.1, layer: 1, head: 0.9, example: 0.8, step: 0.7, term: 0.9, guide: 0.6 };
const OF_A_KIND = { guide: 2, answer: 2, step: 2, view: Infinity }; // entries that are shown, of other kinds three
const stems = new Map(); // of words seen before
const SMALL = new Set(stemsOf("a about actually all an and another any are at be been being bert between but by can could cause did do does doing done each exactly for from get gets getting give got had " +
  "happen happens has have having here how i if im in into is it its ive just kind let like make makes many may me mean means might much my need of on one or our per please put really s say says see " +
  "she should show so some somehow something sort than that the their them then there these they thing things this those to too try trying us use used using very want was way we were what when " +
  "where which while who whose why will with would you your"));
const LITTLE = 0.3; // how much a word counts that nearly all entries have
const SAME = 0.5; // how much a word counts that means the same or is spelled almost the same, and the words of a phrase apart
const AGAIN = 0.5; // how much an entry counts that opens the same place as a better one
const LONGEST = 6; // words of a phrase that say something
const RARE = 15; // entries with a word that counts fully

function split(text) {
  return text.toLowerCase().normalize("NFKD").replace(/\p{M}|(?<=\w)['’](?=\w)/gu, "").split(/[^\p{L}\p{N}#.[\]]+|\.(?!\d)/u).filter(Boolean);
}

// The beginning that forms of a word share: tokens, tokenize and token; words of up to four letters stay.
function stem(word) {
  if (word.length < 5) return word.replace(/(?<=\w{2}[^s])s$/, "");
  return word.replace(/(?:isations?|izations?|ations?|ings?|ise[ds]?|ize[ds]?|ions?|ers?|ed|es|s|e)$/, (end, at) => (at >= 4 ? "" : end.replace(/^e?s$/, "")));
}

function stemsOf(text) {
  return split(text).map((word) => stems.get(word) ?? stems.set(word, stem(word)).get(word));
}

const together = (words) => [words.join(""), [...words].sort().join("")]; // 'heat map' as one word, and in any order

// A phrase as it is, and without the words that say little if it has two others: 'how do I remove a head' is 'remove head'.
function keysOf(text) {
  const words = stemsOf(text);
  const telling = words.filter((word) => !SMALL.has(word));
  return [...new Set([words.join(""), ...(telling.length > 1 ? together(telling) : [])])];
}

/**
 * An index of entries and concepts as the server sends them (explorer/guide/finding.py): a function that gives the entries which fit a
 * query best, few of a kind but for views. Of the text of an entry `read` characters count: what is said first is what it is about.
 */
export function indexOf(MiniSearch, { entries, concepts }, { most = 12, ofAKind = 0, read = 400 } = {}) {
  const [phrases, vocabulary] = [new Set(), new Set()];
  const signs = new Map(); // of words and phrases: a sign for each concept that they name
  concepts.forEach((row, number) => row.flatMap(keysOf).forEach((key) => signs.set(key, new Set(signs.get(key)).add(`~${number}`))));
  const longest = Math.max(...concepts.flat().map((phrase) => split(phrase).length));
  const meant = (words) => {
    const found = new Set();
    for (let at = 0; at < words.length; at++) for (let end = at + 1; end <= at + longest; end++) signs.get(words.slice(at, end).join(""))?.forEach((sign) => found.add(sign));
    return found;
  };
  const whole = (phrase) => keysOf(phrase).map((key) => (phrases.add(key), `=${key}`));
  const tokenize = (text, field) => {
    if (field === "text") return stemsOf(text);
    const said = text.split(", ");
    const words = stemsOf(field === "words" ? said.filter((phrase) => split(phrase).length < 3).join(", ") : text);
    if (field === "near" || field === "where") return [...words, ...meant(words)];
    words.forEach((word) => vocabulary.add(word));
    const typed = split(text).map((word) => `'${word}`); // for words that are not spelled right
    return [...words, ...new Set(typed), ...meant(words), ...(field === "words" ? said : [text, text.split(": ").at(-1)]).flatMap(whole)];
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
  const known = (key) => phrases.has(key) || signs.has(key);

  // The longest phrase, of some entry or concept, from the word at places[first] on; small words may be around its others.
  const unitAt = (words, places, first) => {
    for (let count = Math.min(LONGEST, places.length - first); count; count--) {
      const telling = places.slice(first, first + count).map((place) => words[place]);
      const keys = count > 1 ? together(telling) : [];
      for (let start = (places[first - 1] ?? -1) + 1; start <= places[first]; start++)
        for (let end = places[first + count - 1] + 1; end <= (places[first + count] ?? words.length); end++) keys.push(words.slice(start, end).join(""));
      const found = keys.filter(known);
      if (found.length || count === 1) return { telling, keys: new Set(found) };
    }
  };
  const unitsOf = (words) => {
    const units = [];
    const places = [...words.keys()].filter((place) => !SMALL.has(words[place]));
    if (!places.length) return [{ telling: words, keys: new Set([words.join("")]) }];
    for (let first = 0; first < places.length; first += units.at(-1).telling.length) units.push(unitAt(words, places, first));
    return units;
  };
  // 'attentionmap' as 'attention' and 'map', if nothing has it as one word.
  const apart = (word) => {
    const cuts = vocabulary.has(word) || known(word) ? [] : Array.from({ length: Math.max(0, word.length - 5) }, (_, at) => [word.slice(0, at + 3), word.slice(at + 3)].map(stem));
    return cuts.findLast((parts) => parts.every((part) => vocabulary.has(part))) ?? [word];
  };
  // Entries that have a unit or what means the same, with their score and 1; of a phrase also those with its words, with less.
  const hitsOf = ({ telling, keys }) => {
    const hits = new Map();
    const add = (found, worth) => found.forEach(({ id, score }) => hits.set(id, [Math.max(hits.get(id)?.[0] ?? 0, worth * score), 1]));
    const [word] = telling;
    const alone = telling.length === 1 && [...keys].every((key) => key === word); // and not 'why this word'
    if (alone) add(ask(telling), 1);
    for (const key of keys) {
      add(ask([`=${key}`]), 1 + telling.length);
      for (const sign of signs.get(key) ?? []) add(ask([sign]), SAME);
    }
    const guessed = alone && !hits.size && word.length > 3;
    if (guessed) add(ask([word, `'${word}`], word.length < 6 ? 1 : 2).filter(({ terms }) => terms.some((term) => term.replace("'", "")[0] === word[0])), SAME);
    const parts = alone ? [] : ask(telling);
    for (const { id, score, queryTerms } of parts) if (!hits.has(id)) hits.set(id, [score, (SAME * queryTerms.length) / telling.length]);
    return [hits, guessed ? SAME : 1];
  };
  return (query) => {
    const [sums, counts, opened] = [new Map(), {}, new Set()];
    let all = 0;
    for (const unit of unitsOf(stemsOf(query).flatMap(apart))) {
      const [hits, sure] = hitsOf(unit);
      const full = [...hits.values()].filter(([, share]) => share === 1).length;
      const rare = Math.log(entries.length / full) / Math.log(entries.length / RARE);
      const weight = sure * Math.max(LITTLE, Math.min(1, rare));
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
    const best = (found) => found.sort((one, other) => other[1] - one[1]);
    const apartFrom = ([entry, score]) => {
      const place = String(entry.go);
      const factor = opened.has(place) ? AGAIN : 1;
      opened.add(place);
      return [entry, factor * score];
    };
    const found = best(best([...sums].map(worth)).map(apartFrom)).map(([entry]) => entry);
    const few = ({ kind }) => (counts[kind] = (counts[kind] ?? 0) + 1) <= (ofAKind || (OF_A_KIND[kind] ?? 3));
    return found.filter(few).slice(0, most);
  };
}
