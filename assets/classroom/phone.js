// What all that a phone shows shares: its seat in the room, the room's last message, and forms.
import { el } from "../shared/dom.js";
import { send } from "./news.js";

/** `state` is the room's last message to this seat; `main` what the page shows, to fill it only when that changes. */
export const phone = { seat: null, state: null, shown: "" };

export const main = document.querySelector("main");

export const say = (text) => el("p", { class: "bx-quiet" }, text);

/** Do something in the room. Throws an error whose message is a sentence to show. */
export function act(action, body) {
  return send(`/${phone.seat.word}/${action}`, phone.seat.token, body);
}

/** Have the page drawn again. */
export function changed() {
  document.dispatchEvent(new CustomEvent("bert:room"));
}

/** Build the page once for each `key`; typed text stays. */
export function fill(key, build) {
  if (phone.shown === key) return;
  const typed = new Map([...main.querySelectorAll("input:not([type=radio]), textarea")].map((one) => [one.name, one.value]));
  const focus = document.activeElement?.name;
  phone.shown = key;
  main.replaceChildren(...build());
  for (const one of main.querySelectorAll("input:not([type=radio]), textarea")) {
    if (typed.get(one.name) && !one.value) one.value = typed.get(one.name);
    if (focus && one.name === focus) one.focus();
  }
}

/** A form with a line for errors; `send(values)` submits it; on success, the boxes named in `clears` are emptied. */
export function form(parts, label, send, clears = []) {
  const wrong = el("p", { class: "bx-error", role: "alert" });
  const submit = el("button", { type: "submit", class: "bx-main" }, label);
  const made = el("form", {}, ...parts, submit, wrong);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.textContent = "";
    submit.disabled = true;
    try {
      const values = Object.fromEntries(new FormData(made));
      for (const name of clears) made.elements[name].value = "";
      await send(values).catch((error) => {
        for (const name of clears) made.elements[name].value ||= values[name]; // keep what was typed
        throw error;
      });
    } catch (error) {
      wrong.textContent = error.message;
    }
    submit.disabled = false;
  });
  return made;
}

export function field(label, name, more = {}) {
  return el("label", {}, label, el("input", { name, autocomplete: "off", autocapitalize: "off", spellcheck: "false", ...more }));
}

/** Text of a lesson: from the app's own files, Markdown without HTML. */
export function lessonText(html) {
  const made = el("div", { class: "bx-lesson-text" });
  made.innerHTML = html;
  return made;
}
