// 'How is this made?' shows the captions and checks of all views; the browser remembers it.

const KEY = "bert-how";
let isOpen = false;
try {
  isOpen = localStorage.getItem(KEY) === "yes";
} catch { /* a browser that keeps nothing */ }

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
  try {
    localStorage.setItem(KEY, isOpen ? "yes" : "no");
  } catch { /* it lasts until the page is left */ }
  show();
  scrollBy(0, toggle.getBoundingClientRect().top - before); // keep the button in place under the pointer
});
