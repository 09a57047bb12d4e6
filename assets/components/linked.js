// Linked highlighting: a token or head that is pointed at is marked wherever else it is shown.
// A component names it by `data-token` (zero-based) and `data-head` ("layer.head", from 1).

let shown = ""; // a selector

// A head is pointed at, "" for none: beside which picture, how far down (px), and its button.
function pointAt(name, beside = null, top = 0, owner = null) {
  document.dispatchEvent(new CustomEvent("bert:head", { detail: { head: name, beside, top, owner } }));
}

function over({ target, type, relatedTarget }) {
  const one = target.closest?.("gradio-app :is([data-token], [data-head])");
  const { head, token } = one?.dataset ?? {};
  const opened = type === "focusin" && one?.closest(".bx-zoom-head") && !relatedTarget?.closest?.(".bx-zoom-head"); // with its layer
  if (head && !opened) pointAt(head, (one.closest(".bx-zoom-head") ?? one.parentElement).getBoundingClientRect(), one.getBoundingClientRect().top, one);
  else if (!target.closest?.(".bx-chart")) pointAt("");
  const now = head ? `[data-head="${head}"]` : token ? `[data-token="${token}"]` : "";
  if (now === shown) return;
  shown = now;
  for (const one of document.querySelectorAll(".bx-linked")) one.classList.remove("bx-linked");
  if (now) for (const one of document.querySelectorAll(`gradio-app ${now}`)) one.classList.add("bx-linked");
}
document.addEventListener("pointerover", over, { passive: true });
document.addEventListener("focusin", over);

/** Point at the heads of a chart whose axes are head and layer, when the pointer is over its cells. */
export function chart(box) {
  box.on("plotly_hover", ({ event, points: [{ xaxis, yaxis, x, y }] }) => {
    const isHead = xaxis?.title?.text === "head" && yaxis?.title?.text === "layer";
    if (isHead) pointAt(`${y}.${x}`, box.getBoundingClientRect(), event.clientY);
  });
  box.on("plotly_unhover", () => pointAt(""));
}

/** Whether these are all tokens of the page's input. */
export const isInput = (tokens) => String(tokens) === String([...document.querySelectorAll("gradio-app #strip .bx-token")].map((chip) => chip.textContent));
