// The view's Python in the dialog of links and files: fetched when opened, to read and copy.
import { linkState } from "./link.js";
import { el } from "./shared/dom.js";
import { file } from "./take.js";

document.addEventListener("bert:take", ({ detail }) => {
  const query = linkState.query ?? location.search.slice(1);
  const code = el("code");
  const copy = el("button", { type: "button", class: "bx-take-button", hidden: "" }, "Copy the Python");
  const folded = el("details", { id: "take-python" }, el("summary", {}, "The Python that makes it"),
    el("pre", { tabindex: 0 }, code), copy);
  detail.append(folded);

  folded.addEventListener("toggle", async () => {
    if (!folded.open || code.textContent) return;
    code.textContent = "…";
    try {
      const answer = await fetch(file("view.py", query));
      code.textContent = answer.ok ? await answer.text() : (await answer.json()).error;
      copy.hidden = !answer.ok;
    } catch {
      code.textContent = "The app does not answer; close this and try again in a moment.";
    }
  });

  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      copy.textContent = "It is on the clipboard";
    } catch {
      getSelection().selectAllChildren(code);
      copy.textContent = "It is marked; copy it from there";
    }
  });
});
