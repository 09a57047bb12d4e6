// The page while it opens: hidden until it is complete.
import { openedByLink } from "../link.js";
import { plotlyAtRest } from "../shared/plotly.js";

const PATIENCE = 20_000; // ms to wait for what should have come
const PARTS = ["#open-lessons", "#examples input", "#model-box input", "#text-b textarea", "#strip .bx-tokens", "#tabs [role=tab]"];

/** A page sent with its opening values needs no first drawing, and one that a link opens comes with its own: such calls never resolve. */
export function opened(values) {
  const filled = window.gradio_config?.components.find((one) => one.props.elem_id === "strip")?.props.value;
  return filled || openedByLink() ? new Promise(() => {}) : Promise.resolve(values);
}

/** The page has its state, for which the model was loaded, or it was said why not. */
export function wasOpened() {
  document.documentElement.dataset.opened = "yes";
  setTimeout(() => delete document.body.dataset.arriving, 100); // of a link that leads nowhere
}

/**
 * Gradio's components arrive one by one and push each other about: hide them until the bar is complete, or, below what first.js
 * draws, until that leaves.
 */
export function showWhenComplete() {
  const root = document.documentElement;
  root.dataset.coming = "yes";
  const show = () => {
    look.disconnect();
    if (root.dataset.coming !== "yes") return;
    if (document.querySelector("#first")) root.dataset.coming = "complete";
    else delete root.dataset.coming;
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
