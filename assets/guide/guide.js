// The guide is as light or dark as the page that led to it, else as the system. Its search asks the index of the finder.
import { indexOf } from "../page/finding.js";
import { el } from "../shared/dom.js";
import { store, stored } from "../shared/storage.js";

const HERE = "guide "; // how entries that lead to the guide begin
const KEPT = "bert-guide-theme"; // key in sessionStorage
const EXCERPT = 200; // characters
const root = document.documentElement;
const asked = new URLSearchParams(location.search).get("__theme");
const system = matchMedia("(prefers-color-scheme: dark)");
let theme = asked ?? stored(KEPT, "sessionStorage");
if (asked) store(KEPT, asked, "sessionStorage");
const show = () => root.classList.toggle("dark", theme ? theme === "dark" : system.matches);
show();
system.addEventListener("change", show);

async function fetchIndex() {
  const [{ default: MiniSearch }, answer] = await Promise.all([import(new URL("../minisearch.js", location.href)), fetch("../find.json")]);
  const { entries, concepts } = await answer.json();
  return indexOf(MiniSearch, { entries: entries.filter(({ go }) => go.startsWith?.(HERE)), concepts }, { most: 30, ofAKind: 30, read: Infinity });
}

function describe({ title, where, text = "", go }, [first]) {
  const at = Math.max(0, text.toLowerCase().indexOf(first) - EXCERPT / 4);
  const excerpt = text && `${at ? "… " : ""}${text.slice(at, at + EXCERPT)}${text.length > at + EXCERPT ? " …" : ""}`;
  return el("li", {}, el("a", { href: go.slice(HERE.length) }, title), el("small", {}, where), el("p", {}, excerpt));
}

function listenForSearch(box, told, list) {
  let index = null; // a promise
  box.form.hidden = false;
  box.form.addEventListener("submit", (event) => event.preventDefault());
  box.addEventListener("input", async () => {
    const asked = box.value;
    scrollTo(0, 0);
    index ??= fetchIndex();
    const find = await index.catch(() => (index = null));
    if (asked !== box.value) return;
    const hits = find && asked.trim() ? find(asked) : [];
    told.textContent = !find ? "The list could not be fetched. Try again in a moment." : !asked.trim() ? "" : hits.length ? `Found: ${hits.length}` : "The guide has nothing about this. Try another word.";
    list.replaceChildren(...hits.map((hit) => describe(hit, asked.toLowerCase().trim().split(/\s+/))));
  });
  list.addEventListener("click", () => {
    box.value = told.textContent = "";
    list.replaceChildren();
  });
}

addEventListener("DOMContentLoaded", () => {
  listenForSearch(...["q", "told", "hits"].map((id) => document.getElementById(id)));
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = root.classList.contains("dark") ? "light" : "dark";
    store(KEPT, theme, "sessionStorage");
    show();
  });
});
