// Keep Gradio's front end from useless repeated work on the states of calls, and tell the page of these states.
import { told } from "./page/told.js";

// Gradio counts every ended call as a closed stream, and keeps a note about each of its inputs. At each step of every call it
// goes through all notes, and looks up each component in the whole page: once all tabs were opened, that was half the cost of
// a click. Nothing shows the notes about inputs; the progress of work is noted as before.
async function keepNoInputs() {
  const parts = Object.values(await import(new URL(told.statuses, document.baseURI)).catch(() => ({}))); // otherwise Gradio reports it
  const kind = parts.find((part) => part?.LoadingStatus)?.LoadingStatus.prototype;
  if (!kind?.resolve_args) return; // a different version of Gradio: the page is slower then
  const resolve = kind.resolve_args;
  kind.resolve_args = function (status) {
    // One without `stage` is of a listener whose script may decide not to call.
    if (status.stage || status.status !== "pending") document.dispatchEvent(new CustomEvent("bert:call", { detail: { number: status.fn_index, stage: status.status } }));
    return resolve.call(this, { ...status, stream_state: null }); // the page has no streaming inputs
  };
}

// Gradio counts the tenths of a second of a call at every frame, and goes on counting the page's own loading after its end: an
// idle browser would draw sixty frames a second for as long as the page is open.
const TENTHS = /^\(\)=>\{[\w$]+\([\w$]+,\(performance\.now\(\)-[\w$]+\([\w$]+\)\)\/1e3\),[\w$]+&&[\w$]+\(\)\}$/;

/** Begin, before Gradio's own scripts. */
export function saveFrontEndWork() {
  const frame = window.requestAnimationFrame;
  window.requestAnimationFrame = (call) => (TENTHS.test(call) ? setTimeout(call, 100) : frame.call(window, call));
  document.addEventListener("DOMContentLoaded", () => told.statuses && keepNoInputs());
}
