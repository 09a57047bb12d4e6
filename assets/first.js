// The opening page, drawn from its configuration while Gradio's scripts are still loading: texts, tokens and picture in their
// places, until the real page shows them. It can be used at once: what is typed and clicked here is repeated on the real
// page.
import { hidden } from "./answers.js";
import { fillTexts } from "./link.js";
import { ask, close, leave as leavePaint, paint, show } from "./painted.js";
import { el } from "./shared/dom.js";

/** Paint it, at the end of the page's body. */
export function paintFirst() {
  const parts = new Map((window.gradio_config?.components ?? []).map((one) => [one.props.elem_id, one.props]));
  if (parts.has("text-a")) fillTexts(parts);
  if (!parts.get("strip")?.value) return; // not computed yet, or another page was requested
  const asked = new URLSearchParams(location.search).get("__theme");
  if (asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches) document.body.classList.add("dark");

  const text = (id) => parts.get(id)?.value ?? "";
  const shownOf = (id) => (hidden() && parts.get(id).elem_classes?.includes("bx-answer") ? null : parts.get(id).value);
  const drawn = (id, into) => {
    const { html_template: skeleton, js_on_load: script } = parts.get(id);
    const value = shownOf(id);
    const box = el("div", { "data-of": id });
    box.innerHTML = skeleton; // a constant of ours: values are drawn into it as text
    into?.append(box); // before drawing: it measures its width
    new Function("element", "trigger", "props", "watch", script)(box, () => {}, { value }, () => {});
    return box;
  };
  const box = (label, id) => {
    const input = el("textarea", { rows: 1, "data-of": id, "aria-label": label, spellcheck: "false" });
    input.value = text(id);
    return el("label", {}, label, input);
  };
  const tabs = window.gradio_config.components.filter((one) => one.type === "tabitem" && one.props.visible);
  const { sections } = parts.get("sections").value;
  const sectionOf = tabs.map(({ props }) => sections.findIndex((one) => one.tabs.includes(props.id)));
  const names = tabs.map(({ props }, i) => el("button", { type: "button", "data-section": sectionOf[i] }, props.label));
  const bar = el("div", { class: "bx-first-bar" },
    el("div", { id: "title" }, el("h1", {}, "BERT Explorer")),
    el("div", { class: "bx-first-texts" }, box("A", "text-a"), box("B", "text-b")),
    drawn("strip"));
  const row = el("div", { class: "bx-first-tabs" }, drawn("sections"), ...names);
  const first = el("div", { id: "first" }, bar,
    el("div", { class: "bx-first-says" }, drawn("says")),
    row,
    el("h2", {}, text("overview-question").replace(/^#+ /, "")),
    el("div", { class: "bx-finding" }, shownOf("overview-finding")?.text ?? ""),
    el("div", { class: "bx-first-picture" }));
  document.body.append(first);
  drawn("overview-routes-picture", first.lastChild);

  const clicks = new Map(); // last click by element id: the number of the button or its route
  const turnTo = (tab) => {
    for (const one of names) {
      one.classList.toggle("bx-open", one === tab);
      one.hidden = one.dataset.section !== tab.dataset.section || sections[tab.dataset.section].tabs.length < 2;
    }
    document.body.dataset.section = tab.dataset.section;
    [...row.querySelectorAll("[role=tab]")].forEach((one, i) => (one.ariaSelected = String(String(i) === tab.dataset.section)));
    first.classList.toggle("bx-elsewhere", names.indexOf(tab) > 0);
  };
  // The tab that a button in the row opens; a section opens its first tab.
  const tabOf = (button) => (button?.role === "tab" ? names[sectionOf.indexOf([...button.parentElement.children].indexOf(button))] : button);
  turnTo(names[0]);
  first.addEventListener("click", ({ target }) => {
    const pressed = target.closest("button, input, [data-route]");
    if (!pressed) return;
    if (row.contains(pressed)) {
      const tab = tabOf(pressed);
      clicks.set("tabs", names.indexOf(tab));
      turnTo(tab);
      return paintOpen();
    }
    const part = pressed.closest("[data-of]");
    if (!part) return;
    const number = [part, ...part.querySelectorAll("button, input")].lastIndexOf(pressed) - !part.matches("button");
    clicks.set(part.dataset.of, pressed.dataset.route ?? number);
    if (part.dataset.of === "strip" && open() !== names[0]) paintOpen();
  }, true); // before the part's own listener, which may redraw what was clicked

  // ---- What another tab opens with, for the texts and token chosen here.

  const chosen = () => {
    const [a, b] = [...first.querySelectorAll(".bx-first-texts textarea")].map((one) => one.value);
    const typed = a !== text("text-a") || b !== text("text-b");
    const token = clicks.get("strip");
    return { ...(typed && { a, b }), ...(token !== undefined && !typed && { token }) };
  };
  const idOf = (button) => tabs[names.indexOf(button)]?.props.id;
  const open = () => names.find((one) => one.matches(".bx-open"));
  function paintOpen() {
    for (const part of paint.box?.querySelectorAll("[data-of]") ?? []) clicks.delete(part.dataset.of);
    if (open() === names[0]) close();
    else show(first, idOf(open()), chosen());
  }
  for (const kind of ["pointerover", "focusin"]) { // pointing at a tab usually comes before opening it
    row.addEventListener(kind, ({ target }) => names.indexOf(tabOf(target)) > 0 && ask(idOf(tabOf(target)), chosen()));
  }
  let typing = 0;
  first.addEventListener("input", ({ target }) => {
    if (!target.matches("textarea")) return;
    clearTimeout(typing);
    typing = setTimeout(() => first.isConnected && open() !== names[0] && paintOpen(), 200);
  });

  function takeOver() {
    const typedIn = document.activeElement?.closest("#first textarea");
    const boxes = [...first.querySelectorAll("textarea")].map((one) => [one, document.querySelector(`gradio-app #${one.dataset.of} textarea`)]);
    const changed = boxes.filter(([one, own]) => own && one.value !== text(one.dataset.of));
    const [last, box] = boxes.find(([one, own]) => own && one === typedIn) ?? changed[0] ?? [];
    box?.focus(); // text set in an unfocused box does not count as typed
    for (const [one, own] of changed) {
      own.value = one.value;
      own.dispatchEvent(new Event("input", { bubbles: true }));
    }
    box?.setSelectionRange(last.selectionStart, last.selectionEnd);
    replay();
  }

  function replay() {
    for (const [part, number] of clicks) {
      if (!document.querySelector(`gradio-app #${part}`)) continue; // of a tab that is not built yet
      clicks.delete(part);
      if (part === "tabs") {
        const label = names[number].textContent;
        [...document.querySelectorAll("gradio-app #tabs [role=tab]")].find((one) => one.textContent.trim() === label)?.click();
      } else if (typeof number === "string") {
        document.querySelector(`gradio-app #${part} [data-route="${number}"]`)?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      } else document.querySelectorAll(`gradio-app #${part}:is(button), gradio-app #${part} :is(button, input)`)[number]?.click();
    }
  }

  const leave = () => {
    there.disconnect();
    if (!first.isConnected) return;
    delete document.documentElement.dataset.coming; // hidden elements cannot take the focus
    takeOver();
    leavePaint(first, replay);
  };
  const there = new MutationObserver(() => {
    const arrived = document.querySelector("gradio-app :is(#overview-routes-picture .bx-flow-box, .view[data-withheld], #overview-routes-picture[data-withheld], .toast-wrap .error, .wrap .error)");
    if (!arrived) return;
    there.disconnect();
    requestAnimationFrame(() => setTimeout(leave)); // after the layout of what was drawn
  });
  setTimeout(leave, 60_000); // then show the page as it is
  there.observe(document.querySelector("gradio-app"), { childList: true, subtree: true });
}
