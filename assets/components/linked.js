// Linked highlighting: a token or head that is pointed at is marked wherever else it is shown.
// A component names it by `data-token` (zero-based) and `data-head` ("layer.head", from 1).

let shown = ""; // a selector

function over({ target }) {
  const { head, token } = target.closest?.("gradio-app :is([data-token], [data-head])")?.dataset ?? {};
  const now = head ? `[data-head="${head}"]` : token ? `[data-token="${token}"]` : "";
  if (now === shown) return;
  shown = now;
  for (const one of document.querySelectorAll(".bx-linked")) one.classList.remove("bx-linked");
  if (now) for (const one of document.querySelectorAll(`gradio-app ${now}`)) one.classList.add("bx-linked");
}
document.addEventListener("pointerover", over, { passive: true });
document.addEventListener("focusin", over);

/** Whether these are all tokens of the page's input. */
export const isInput = (tokens) => String(tokens) === String([...document.querySelectorAll("gradio-app #strip .bx-token")].map((chip) => chip.textContent));
