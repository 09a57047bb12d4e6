// What a marked term means: on hover, while it has the focus, and until it is closed after a click, a tap or a key.
import { linkAddress, linkState, visit } from "../link.js";
import { el } from "../shared/dom.js";
import { termOf } from "./terms.js";

const PAUSE = 250; // ms for which a pointer rests on a term before its meaning comes, or is away before it goes

const shown = {
  box: null,
  marked: null, // the word whose meaning is in the box; null while it is hidden
  isPinned: false, // it was asked for by a click or a key, and stays
  isReturning: false, // the focus goes back to the word
  timer: 0,
};

function makeBox() {
  shown.box = el("div", { id: "meaning", role: "dialog", tabindex: "-1", hidden: "" });
  shown.box.addEventListener("pointerenter", () => clearTimeout(shown.timer));
  shown.box.addEventListener("pointerleave", closeSoon);
  shown.box.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !shown.box.contains(relatedTarget)) close();
  });
  document.body.append(shown.box);
}

function show(marked, isPinned = false) {
  clearTimeout(shown.timer);
  if (!shown.box) makeBox();
  const { box } = shown;
  const { name, meaning, where, query, anchor } = termOf(marked);
  const text = el("p");
  text.innerHTML = meaning; // from our own file: Markdown without HTML
  const theme = document.body.classList.contains("dark") ? "dark" : "light";
  const view = el("a", { href: linkAddress(here(query)) }, where);
  view.addEventListener("click", (event) => open(event, query));
  const more = el("a", { href: `bx/guide/glossary?__theme=${theme}#${anchor}`, target: "_blank", rel: "noopener" }, "Glossary");
  box.replaceChildren(el("b", {}, name), text, el("p", { class: "bx-meaning-links" }, view, more));
  box.setAttribute("aria-label", name);
  box.hidden = false;
  Object.assign(shown, { marked, isPinned });
  place();
  if (isPinned) box.focus({ preventScroll: true });
}

// Below the word, or above it where there is no room.
function place() {
  const word = shown.marked.getClientRects()[0];
  if (!word) return close(); // its text is closed
  const { offsetWidth: width, offsetHeight: height } = shown.box;
  const below = word.bottom + 6;
  const top = below + height > innerHeight - 8 ? Math.max(8, word.top - height - 6) : below;
  shown.box.style.left = `${Math.max(8, Math.min(word.left - 12, document.documentElement.clientWidth - width - 8))}px`;
  shown.box.style.top = `${top}px`;
}

function close(isReturning = false) {
  clearTimeout(shown.timer);
  const { marked } = shown;
  Object.assign(shown, { marked: null, isPinned: false });
  if (shown.box) shown.box.hidden = true;
  if (!isReturning || !marked?.isConnected) return;
  shown.isReturning = true; // so that the focus does not show it again at once
  marked.focus({ preventScroll: true });
  shown.isReturning = false;
}

function closeSoon() {
  clearTimeout(shown.timer);
  if (!shown.isPinned) shown.timer = setTimeout(close, PAUSE);
}

function showSoon(marked) {
  clearTimeout(shown.timer);
  shown.timer = setTimeout(() => marked.isConnected && show(marked), PAUSE);
}

// The link to a view, with the model and the texts of the page.
function here(query) {
  const [link, now] = [new URLSearchParams(query), new URLSearchParams(linkState.query ?? "")];
  for (const name of ["model", "a", "b"]) if (now.has(name)) link.set(name, now.get(name));
  return String(link);
}

function open(event, query) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  close(true);
  visit(here(query));
}

function followKeys(event) {
  const marked = event.target.closest?.(".bx-term");
  const isLeaving = event.key === "Tab" && !event.shiftKey && shown.marked && event.target === shown.box.querySelector("a:last-child");
  if (marked && (event.key === "Enter" || event.key === " ")) show(marked, true);
  else if (shown.marked && (event.key === "Escape" || isLeaving)) close(shown.isPinned || isLeaving);
  else return;
  event.preventDefault();
  event.stopPropagation(); // Esc would close what is around it, too
}

/** Show meanings from now on. */
export function listenForTerms() {
  const on = (kind, does) => document.addEventListener(kind, (event) => does(event, event.target.closest?.(".bx-term")), true);
  on("pointerover", (event, marked) => {
    if (event.pointerType !== "mouse" || shown.isPinned || !marked) return;
    if (marked === shown.marked) clearTimeout(shown.timer);
    else showSoon(marked);
  });
  on("pointerout", (event, marked) => marked && event.pointerType === "mouse" && closeSoon());
  on("focusin", (event, marked) => marked?.matches(":focus-visible") && !shown.isReturning && show(marked));
  on("focusout", (event, marked) => marked && closeSoon());
  on("click", (event, marked) => marked && show(marked, true));
  on("pointerdown", (event, marked) => shown.marked && !marked && !shown.box.contains(event.target) && close());
  on("scroll", ({ target }) => shown.marked && target.contains?.(shown.marked) && place()); // a word that Tab leads to is scrolled into view
  addEventListener("keydown", followKeys, true);
}
