// Keyboard access that Gradio lacks: arrow keys in tabs and radio buttons, menus that close, and a link past the header.
import { along, el, reveal } from "./shared/dom.js";

const REST = 250; // ms: a tab that is only passed is not opened, since opening it computes

const TABS = "#tabs, .bx-sections";
let opened = null;

// The Tab key reaches the open tab only; arrow keys, Home and End reach the other tabs.
function rove() {
  for (const tab of document.querySelectorAll("#tabs [role=tab]")) {
    const index = tab.ariaSelected === "true" || tab === document.activeElement ? 0 : -1;
    if (tab.tabIndex !== index) tab.tabIndex = index;
  }
  const open = document.querySelector("#tabs [role=tab][aria-selected=true]");
  if (open && open !== opened) reveal(open.parentElement, open); // where the tabs scroll sideways
  opened = open;
}

// Gradio gives every radio button its own name; under a common name they form one group, and arrow keys work.
function group() {
  for (const radio of document.querySelectorAll("fieldset input[type=radio]")) {
    const { name } = radio.closest("fieldset").querySelector("input[type=radio]");
    if (radio.name !== name) radio.name = name;
  }
}

let resting = 0;
function alongTabs(event) {
  const row = [...event.target.closest(TABS).querySelectorAll("[role=tab]")].filter((tab) => tab.offsetParent);
  const next = along(event, row.indexOf(event.target), row.length);
  if (next < 0 || /Up|Down/.test(event.key)) return;
  event.preventDefault();
  row[next].focus();
  clearTimeout(resting);
  resting = setTimeout(() => document.activeElement === row[next] && row[next].click(), REST);
}

function skipLink() {
  const link = el("a", { id: "skip", href: "#tabs" }, "Skip to the pictures");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const panel = [...document.querySelectorAll("#tabs [role=tabpanel]")].find((one) => one.offsetParent);
    panel?.setAttribute("tabindex", "-1");
    panel?.focus();
    panel?.scrollIntoView({ block: "start" });
  });
  document.body.prepend(link);
}

document.addEventListener("keydown", (event) => event.target.role === "tab" && event.target.closest(TABS) && alongTabs(event));
// Close a list that was left before it had opened fully; Gradio would leave it open.
document.addEventListener("focusout", ({ target }) => {
  if (target.role !== "combobox") return;
  setTimeout(() => {
    const open = target !== document.activeElement && target.getAttribute("aria-expanded") === "true";
    if (open) target.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  }, REST);
});
document.addEventListener("focusin", ({ target }) => target.role === "tab" && rove());

document.addEventListener("DOMContentLoaded", () => {
  skipLink();
  let due = 0;
  const tidy = () => (due ||= requestAnimationFrame(() => {
    due = 0;
    rove();
    group();
  }));
  new MutationObserver(tidy).observe(document.body, { subtree: true, childList: true, attributeFilter: ["aria-selected"] });
});
