// 'How is this made?' shows the captions and checks of all views; the browser remembers it.
import { store, stored } from "../shared/storage.js";

const KEPT = "bert-how"; // key in localStorage
let isOpen = stored(KEPT) === true;

function show() {
  document.body.toggleAttribute("data-how", isOpen);
  for (const toggle of document.querySelectorAll(".how-toggle")) toggle.ariaExpanded = String(isOpen);
}

addEventListener("DOMContentLoaded", show);
document.addEventListener("click", ({ target }) => {
  const toggle = target.closest?.(".how-toggle");
  if (!toggle) return;
  const before = toggle.getBoundingClientRect().top;
  isOpen = !isOpen;
  store(KEPT, isOpen);
  show();
  scrollBy(0, toggle.getBoundingClientRect().top - before); // keep the button in place under the pointer
});
