// The address bar follows what the page shows, and the page follows the browser's back and forward.

import { hasArrived, startArriving, typingState } from "./page/typing.js";

const PATIENCE = 5_000; // ms to wait for the place that the browser went to
const ARRIVING = 30_000; // ms after which a page opened by a link is shown as it is
const TYPING = 10_000; // ms in which successive texts count as one history entry
const MAIN = ["model", "tab", "view"]; // a change of these, or of a text, adds a history entry
const TEXTS = ["a", "b"];

export const linkState = {
  query: null, // of the link to what is shown; "" if no link can hold it
  own: "", // what the page's own requests say of it besides, such as the run
  visiting: null, // the query that the browser went to, and
  since: 0, // when
  typed: 0, // when a text last added an entry
  visits: 0,
  toRead: false, // whether the texts of the place are still to be read
};

// Whether two queries differ in some parameters.
const differ = (one, other, names) => names.some((name) => new URLSearchParams(one).get(name) !== new URLSearchParams(other).get(name));

/** The query of a link with some parameters of what is shown. */
export function withShown(query, names) {
  const [link, now] = [new URLSearchParams(query), new URLSearchParams(linkState.query ?? "")];
  for (const name of names) if (now.has(name)) link.set(name, now.get(name));
  return String(link);
}

/** The address of a query on this page, keeping Gradio's own parameters, such as __theme. */
export function linkAddress(query) {
  const own = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("__"));
  const gradio = own.length ? `&${new URLSearchParams(own)}` : "";
  return `${location.pathname}?${query}${gradio}`;
}

/** The query with which this page asks for what it shows. */
export const ownQuery = () => [linkState.query ?? location.search.slice(1), linkState.own].filter(Boolean).join("&");

/** The page shows something else. `address` is the query of the link to it and, after a #, what only this page knows of it. */
export function follow(address) {
  const opens = linkState.query === null;
  delete document.body.dataset.arriving;
  const [query, own = ""] = address.split("#");
  Object.assign(linkState, { query, own });
  document.dispatchEvent(new CustomEvent("bert:moved"));
  if (!query) return;
  if (opens) return history.replaceState({ ...history.state, bert: query }, ""); // the address is the one requested: no new entry
  if (linkState.visiting !== null && query !== linkState.visiting && Date.now() - linkState.since < PATIENCE) return; // this answers an earlier action
  linkState.visiting = null;
  const before = history.state?.bert ?? "";
  if (query === before) return;
  const [moved, texts] = [MAIN, TEXTS].map((names) => differ(query, before, names));
  const goesOn = texts && !moved && Date.now() - linkState.typed < TYPING;
  const how = moved || (texts && !goesOn) ? "pushState" : "replaceState";
  linkState.typed = texts ? Date.now() : 0;
  history[how]({ bert: query }, "", linkAddress(query));
}

/** Have the page show what a link leads to. `more` are parameters for this visit alone. */
export function visit(query, more = "") {
  const box = document.querySelector("#visited :is(textarea, input)");
  if (!box || !query) return;
  Object.assign(linkState, { visiting: query, since: Date.now(), typed: 0 });
  startArriving();
  box.value = `${(linkState.visits += 1)}?${query}${more}`; // even to the current place: an answer on its way may lead elsewhere
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * The server has read a link. Returns the texts for the boxes; one that was typed in since the page set out keeps what was typed.
 * `given` is the number of the visit, whether what it shows is still to be drawn, and the two texts, as JSON; "" at first.
 */
export function texts(given) {
  if (!given) return [];
  const [visit, undrawn, ...found] = JSON.parse(given);
  if (visit === String(linkState.visits)) hasArrived(); // otherwise it has gone on to another place meanwhile
  const own = TEXTS.map((name) => typingState.own.has(`text-${name}`));
  if (own.includes(true)) linkState.visiting = null; // what it shows then has another link
  linkState.toRead = undrawn || own.includes(true);
  return own.map((typed, i) => (typed ? undefined : found[i]));
}

/** Resolves if the texts of a link are to be read; a place that came with its picture never does, unless something was typed. */
export const toRead = (values) => linkState.toRead ? Promise.resolve(values) : new Promise(() => {});

/** Whether a link opened this page; parameters that begin with __ are Gradio's. */
export const openedByLink = () => [...new URLSearchParams(location.search).keys()].some((name) => !name.startsWith("__"));

/** The page shows the place that the browser went to. */
export function arrived() {
  if (linkState.query === linkState.visiting) linkState.visiting = null;
}

/**
 * Follow the browser from now on. A page sent with its opening values says so in its configuration. If the link leads elsewhere,
 * those are hidden until the server has answered (see sections.css).
 */
export function listenToHistory() {
  if (openedByLink()) startArriving();
  addEventListener("DOMContentLoaded", () => {
    if (new URLSearchParams(location.search).has("tab")) {
      document.body.dataset.arriving = "yes";
      setTimeout(() => delete document.body.dataset.arriving, ARRIVING);
    }
    const sent = window.gradio_config?.components.find((one) => one.props.elem_id === "link");
    if (sent?.props.value) follow(sent.props.value);
  });
  addEventListener("popstate", ({ state }) => visit(state?.bert ?? location.search.slice(1)));
}
