// The page while it opens: hidden until it is complete, and a sentence while the model is being loaded.
import { el } from "../shared/dom.js";
import { openedByLink } from "../link.js";
import { plotlyAtRest } from "../shared/plotly.js";
import { busy, done } from "./busy.js";
import { typingState } from "./typing.js";

const PATIENCE = 20_000; // ms to wait for what should have come
const PARTS = ["#open-lessons", "#examples input", "#model-box input", "#text-b textarea", "#strip .bx-tokens", "#tabs [role=tab]"];

/** A page sent with its opening values needs no first drawing, and one that a link opens comes with its own: such calls never resolve. */
export function opened(values) {
  const filled = window.gradio_config?.components.find((one) => one.props.elem_id === "strip")?.props.value;
  return filled || openedByLink() ? new Promise(() => {}) : Promise.resolve(values);
}

/** The page has its state, for which the model was loaded, or it was said why not. What is being read removes the sentence. */
export function wasOpened() {
  setTimeout(() => delete document.body.dataset.arriving, 100); // of a link that leads nowhere
  setTimeout(() => typingState.reading || document.querySelector(".bx-loading")?.remove(), 100);
}

// A page that was sent before its model is loaded says so where the tokens will be; the first tokens replace the sentence.
async function awaitModel() {
  const tokens = document.querySelector("gradio-app #strip .bx-tokens:empty");
  if (!tokens) return;
  busy();
  const health = await fetch("healthz").then((answer) => answer.json()).catch(() => ({}));
  if (health.model !== "loading" || tokens.firstChild || typingState.hasRead) return done();
  const loading = el("p", { class: "bx-loading", role: "status" }, "The model is being loaded, which takes a few seconds …");
  tokens.append(loading);
  new MutationObserver((_, look) => {
    if (loading.isConnected) return;
    look.disconnect();
    done();
  }).observe(tokens, { childList: true });
}

/** Gradio's components arrive one by one and push each other about: hide them until the bar is complete. */
export function showWhenComplete() {
  const root = document.documentElement;
  root.dataset.coming = "yes";
  let shown = false;
  const show = () => {
    look.disconnect();
    if (shown) return;
    shown = true;
    delete root.dataset.coming;
    awaitModel();
    if (!window.gradio_config?.auth_required) plotlyAtRest();
  };
  const look = new MutationObserver(() => {
    const login = window.gradio_config?.auth_required; // a page of two boxes
    const complete = login || PARTS.every((part) => document.querySelector(`gradio-app ${part}`));
    if (complete || document.querySelector("gradio-app .error")) requestAnimationFrame(() => requestAnimationFrame(show));
  });
  look.observe(root, { childList: true, subtree: true });
  setTimeout(show, PATIENCE); // then show what is there
}
