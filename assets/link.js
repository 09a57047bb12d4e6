// The address bar follows what the page shows, and the page follows the browser's back and forward.

const PATIENCE = 5_000; // ms to wait for the place that the browser went to
const ARRIVING = 30_000; // ms after which a page opened by a link is shown as it is
const TYPING = 10_000; // ms in which successive texts count as one history entry
const MAIN = ["model", "tab", "view"]; // a change of these, or of a text, adds a history entry
const TEXTS = ["a", "b"];

export const linkState = {
  query: null, // of the link to what is shown; "" if no link can hold it
  visiting: null, // the query that the browser went to, and
  since: 0, // when
  typed: 0, // when a text last added an entry
  visits: 0,
};

function parts(query, names) {
  const parameters = new URLSearchParams(query);
  return JSON.stringify(names.map((name) => parameters.get(name)));
}

/**
 * The address of a query on this page, keeping Gradio's own parameters, such as __theme.
 * @param {string} query
 */
export function linkAddress(query) {
  const own = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("__"));
  const gradio = own.length ? `&${new URLSearchParams(own)}` : "";
  return `${location.pathname}?${query}${gradio}`;
}

/**
 * The page shows something else.
 * @param {string} query of the link to it
 */
export function follow(query) {
  const opens = linkState.query === null;
  delete document.body.dataset.arriving;
  linkState.query = query;
  document.dispatchEvent(new CustomEvent("bert:moved"));
  if (!query) return;
  if (opens) { // the address is the one requested: no new entry
    history.replaceState({ ...history.state, bert: query }, "");
    return;
  }
  if (linkState.visiting !== null) {
    const waits = query !== linkState.visiting && Date.now() - linkState.since < PATIENCE;
    if (!waits) linkState.visiting = null;
    if (waits) return; // this answers an earlier action
  }
  const before = history.state?.bert ?? "";
  if (query === before) return;
  const moved = parts(query, MAIN) !== parts(before, MAIN);
  const texts = parts(query, TEXTS) !== parts(before, TEXTS);
  const goesOn = texts && !moved && Date.now() - linkState.typed < TYPING;
  const how = moved || (texts && !goesOn) ? "pushState" : "replaceState";
  linkState.typed = texts ? Date.now() : 0;
  history[how]({ bert: query }, "", linkAddress(query));
}

/**
 * Have the page show what a link leads to.
 * @param {string} query
 */
export function visit(query) {
  const box = document.querySelector("#visited :is(textarea, input)");
  if (!box || !query) return;
  Object.assign(linkState, { visiting: query, since: Date.now(), typed: 0 });
  box.value = `${(linkState.visits += 1)}?${query}`; // even to the current place: an answer on its way may lead elsewhere
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/** The page shows the place that the browser went to. */
export function arrived() {
  if (linkState.query === linkState.visiting) linkState.visiting = null;
}

/**
 * Follow the browser from now on. A page sent with its opening values says so in its configuration. If the link leads elsewhere,
 * those are hidden until the server has answered (see sections.css).
 */
export function listenToHistory() {
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
