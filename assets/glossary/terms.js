// Where the page's own texts use a term of the glossary, in lessons, captions and findings, and what it means: in a popover at the
// word, after a click, a tap or Enter.
import { linkAddress, visit, withShown } from "../link.js";
import { texts } from "../page/boxes.js";
import { ask } from "../shared/asking.js";
import { el, ours } from "../shared/dom.js";

const ADDRESS = "bx/glossary.json";
const CAPTIONS = ".view .caption, .view .detail-title";
const BLOCKS = "p, li, td, th"; // what holds a text in one piece
const OTHERS = "a, button, code, em, svg, .bx-term"; // what is no prose of ours, or marked already; slanted words are examples
const QUOTED = /[“‘"][^”’"]*[”’"]/g;

const idle = window.requestIdleCallback ?? ((call) => setTimeout(call, 200));
const byWord = new Map(); // word in lower case → index of its term
let terms = []; // {name, words in lower case, meaning as our own HTML, where it is seen in words, query of the link there, anchor in the guide}
let words = null; // a regular expression of all words
let isDue = false;
let arrive;
const arrived = new Promise((resolve) => (arrive = resolve)); // the glossary is here; never, if it cannot be fetched

/** Fetch the glossary when the page has time, and mark the captions that are seen from then on. */
export function watchTexts() {
  const watched = { attributes: true, attributeFilter: ["data-busy", "data-how"] }; // after each drawing, and when captions unfold
  addEventListener("DOMContentLoaded", () => {
    idle(fetchTerms);
    new MutationObserver(() => document.body.dataset.busy || markCaptions()).observe(document.body, watched);
  });
}

async function fetchTerms() {
  const sent = await ask(ADDRESS).catch(() => null);
  if (!sent) return; // the page does without
  ({ terms } = sent);
  terms.forEach((term, index) => term.words.forEach((word) => byWord.set(word, index)));
  const longest = [...byWord.keys()].sort((one, other) => other.length - one.length); // letters, spaces and hyphens only
  // Arrow keys are not the keys of attention.
  words = new RegExp(`(?<![\\p{L}\\p{N}_-]|arrow )(?:${longest.join("|")})(?![\\p{L}\\p{N}_-])`, "giu");
  arrive();
  markCaptions();
}

function markCaptions() {
  if (!words || isDue) return;
  isDue = true;
  idle(() => {
    isDue = false;
    for (const one of document.querySelectorAll(CAPTIONS)) if (one.getClientRects().length) markTerms(one);
  });
}

/** Mark the terms in a text of ours, each once. `within` is a larger text, in which some may be marked already. */
export async function markTerms(root, within = root) {
  await arrived;
  const seen = markedIn(within);
  for (const block of [root, ...root.querySelectorAll(BLOCKS)]) if (!block.querySelector(BLOCKS)) markBlock(block, seen, QUOTED);
}

/**
 * Mark the terms in a sentence about the user's texts. Their words stand between quotes and may contain some, so that all is left
 * as it is from the first quote to the last; a term that is a word of the input is not ours in this sentence.
 */
export async function markFinding(root) {
  await arrived;
  const seen = markedIn(root);
  for (const [word] of texts().join(" ").matchAll(words)) seen.add(byWord.get(word.toLowerCase()));
  markBlock(root, seen, /[“”‘’"].*[“”‘’"]/gs);
}

const markedIn = (text) => new Set([...text.querySelectorAll(".bx-term")].map((one) => Number(one.dataset.term)));

// `seen` are the indices of the terms that are not to be marked; what is `quoted`, a regular expression, is left as it is.
function markBlock(block, seen, quoted) {
  const every = document.createNodeIterator(block, NodeFilter.SHOW_TEXT);
  const nodes = [];
  for (let node = every.nextNode(), from = 0; node; from += node.length, node = every.nextNode()) nodes.push([node, from]);
  const left = [...block.textContent.matchAll(quoted)].map((one) => [one.index, one.index + one[0].length]);
  for (const [node, from] of nodes) {
    if (node.parentElement.closest(OTHERS)) continue;
    const found = [...node.data.matchAll(words)].filter(({ 0: word, index }) => {
      const term = byWord.get(word.toLowerCase());
      const at = from + index;
      return !left.some(([start, end]) => at < end && at + word.length > start) && !seen.has(term) && seen.add(term);
    });
    for (const { 0: word, index } of found.reverse()) {
      const rest = node.splitText(index);
      rest.splitText(word.length);
      rest.replaceWith(marked(word, block));
    }
  }
}

// A stop of the Tab key in lessons only: on the page the way from control to control stays short.
function marked(word, block) {
  const term = byWord.get(word.toLowerCase());
  const keys = block.closest("#lessons") ? { role: "button", tabindex: "0", "aria-haspopup": "dialog" } : {};
  return el("span", { class: "bx-term", "data-term": term, ...keys }, word);
}

// ---- What a marked term means.

const box = el("div", { id: "meaning", popover: "", role: "dialog", tabindex: "-1" });

function show(marked) {
  const { name, meaning, where, query, anchor } = terms[marked.dataset.term];
  const theme = document.body.classList.contains("dark") ? "dark" : "light";
  const place = withShown(query, ["model", "a", "b"]); // the view, with the model and the texts of the page
  const view = el("a", { href: linkAddress(place) }, where);
  view.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    box.hidePopover();
    visit(place);
  });
  const more = el("a", { href: `bx/guide/glossary?__theme=${theme}#${anchor}`, target: "_blank", rel: "noopener" }, "Glossary");
  box.replaceChildren(el("b", {}, name), ours("p", {}, meaning), el("p", { class: "bx-meaning-links" }, view, more));
  box.setAttribute("aria-label", name);
  document.body.append(box);
  box.showPopover({ source: marked });
  box.focus({ preventScroll: true });
}

/** Show meanings from now on. */
export function listenForTerms() {
  document.addEventListener("click", ({ target }) => target.closest?.(".bx-term") && show(target.closest(".bx-term")));
  document.addEventListener("keydown", (event) => {
    if (!["Enter", " "].includes(event.key) || !event.target.matches?.(".bx-term")) return;
    event.preventDefault();
    show(event.target);
  });
}
