// What a marked term means: in a popover at the word, after a click, a tap or Enter.
import { linkAddress, linkState, visit } from "../link.js";
import { el } from "../shared/dom.js";
import { termOf } from "./terms.js";

const text = el("p");
const box = el("div", { id: "meaning", popover: "", role: "dialog", tabindex: "-1" });

function show(marked) {
  const { name, meaning, where, query, anchor } = termOf(marked);
  text.innerHTML = meaning; // from our own file: Markdown without HTML
  const theme = document.body.classList.contains("dark") ? "dark" : "light";
  const view = el("a", { href: linkAddress(here(query)) }, where);
  view.addEventListener("click", (event) => open(event, query));
  const more = el("a", { href: `bx/guide/glossary?__theme=${theme}#${anchor}`, target: "_blank", rel: "noopener" }, "Glossary");
  box.replaceChildren(el("b", {}, name), text, el("p", { class: "bx-meaning-links" }, view, more));
  box.setAttribute("aria-label", name);
  document.body.append(box);
  box.showPopover({ source: marked });
  box.focus({ preventScroll: true });
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
  box.hidePopover();
  visit(here(query));
}

/** Show meanings from now on. */
export function listenForTerms() {
  document.addEventListener("click", ({ target }) => {
    const marked = target.closest?.(".bx-term");
    if (marked) show(marked);
  });
  document.addEventListener("keydown", (event) => {
    if (!["Enter", " "].includes(event.key) || !event.target.matches?.(".bx-term")) return;
    event.preventDefault();
    show(event.target);
  });
}
