// Linked highlighting: a token or head that is pointed at is marked wherever else it is shown.
// A component names it by `data-token` (zero-based) and `data-head` ("layer.head", from 1).

let shown = ""; // a selector

// A head is pointed at, "" for none: beside which picture, how far down (px), and its button.
function head(name, beside = null, top = 0, owner = null) {
  document.dispatchEvent(new CustomEvent("bert:head", { detail: { head: name, beside, top, owner } }));
}

function over({ target }) {
<<<<<<< HEAD
  const one = target.closest?.("gradio-app :is([data-token], [data-head])");
  const owner = one?.dataset.head ? one : null;
  if (owner) head(owner.dataset.head, owner.parentElement.getBoundingClientRect(), owner.getBoundingClientRect().top, owner);
  else if (!target.closest?.(".bx-chart")) head("");
  if (one) mark(one.dataset.head ? { head: one.dataset.head } : { tokens: [Number(one.dataset.token)] });
  else if (!target.closest?.(".bx-chart")) mark();
=======
  const { head, token } = target.closest?.("gradio-app :is([data-token], [data-head])")?.dataset ?? {};
  const now = head ? `[data-head="${head}"]` : token ? `[data-token="${token}"]` : "";
  if (now === shown) return;
  shown = now;
  for (const one of document.querySelectorAll(".bx-linked")) one.classList.remove("bx-linked");
  if (now) for (const one of document.querySelectorAll(`gradio-app ${now}`)) one.classList.add("bx-linked");
>>>>>>> main
}
document.addEventListener("pointerover", over, { passive: true });
document.addEventListener("focusin", over);

<<<<<<< HEAD
// The tokens of the row and column pointed at in a chart, or the head.
export function chart(box) {
  box.on("plotly_hover", ({ event, points: [{ xaxis, yaxis, x, y }] }) => {
    const isHead = xaxis?.title?.text === "head" && yaxis?.title?.text === "layer";
    if (isHead) head(`${y}.${x}`, box.getBoundingClientRect(), event.clientY);
    const read = words();
    const found = [[xaxis, x], [yaxis, y]].map(([axis, label]) => {
      const first = start(axis, read);
      return first < 0 ? -1 : first + axis._categories.indexOf(label);
    });
    mark({ tokens: [...new Set(found.filter((token) => token >= 0))] });
  });
  box.on("plotly_unhover", () => (mark(), head("")));
}

// Whether these are all tokens of the page's input.
export const isInput = (tokens) => String(tokens) === String(words());
=======
/** Whether these are all tokens of the page's input. */
export const isInput = (tokens) => String(tokens) === String([...document.querySelectorAll("gradio-app #strip .bx-token")].map((chip) => chip.textContent));
>>>>>>> main
