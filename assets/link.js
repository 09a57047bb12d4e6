// The address bar follows what the page shows, and the page follows the browser's back and forward.
window.BertLink = {
  PATIENCE: 5_000, // ms to wait for the place that the browser went to
  ARRIVING: 30_000, // ms after which a page opened by a link is shown as it is
  TYPING: 10_000, // ms in which successive texts count as one history entry
  MAIN: ["model", "tab", "view"], // a change of these, or of a text, adds a history entry
  TEXTS: ["a", "b"],
  query: null, // of the link to what is shown; "" if no link can hold it
  visiting: null, // the query that the browser went to, and
  since: 0, // when
  typed: 0, // when a text last added an entry
  visits: 0,

  parts(query, names) {
    const parameters = new URLSearchParams(query);
    return JSON.stringify(names.map((name) => parameters.get(name)));
  },

  // The address of a query on this page, keeping Gradio's own parameters, such as __theme.
  address(query) {
    const own = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("__"));
    const gradio = own.length ? `&${new URLSearchParams(own)}` : "";
    return `${location.pathname}?${query}${gradio}`;
  },

  follow(query) {
    const opens = this.query === null;
    delete document.body.dataset.arriving;
    this.query = query;
    document.dispatchEvent(new CustomEvent("bert:moved"));
    if (!query) return;
    if (opens) { // the address is the one requested: no new entry
      history.replaceState({ ...history.state, bert: query }, "");
      return;
    }
    if (this.visiting !== null) {
      const waits = query !== this.visiting && Date.now() - this.since < this.PATIENCE;
      if (!waits) this.visiting = null;
      if (waits) return; // this answers an earlier action
    }
    const before = history.state?.bert ?? "";
    if (query === before) return;
    const moved = this.parts(query, this.MAIN) !== this.parts(before, this.MAIN);
    const texts = this.parts(query, this.TEXTS) !== this.parts(before, this.TEXTS);
    const goesOn = texts && !moved && Date.now() - this.typed < this.TYPING;
    const how = moved || (texts && !goesOn) ? "pushState" : "replaceState";
    this.typed = texts ? Date.now() : 0;
    history[how]({ bert: query }, "", this.address(query));
  },

  visit(query) {
    const box = document.querySelector("#visited :is(textarea, input)");
    if (!box || !query) return;
    [this.visiting, this.since, this.typed] = [query, Date.now(), 0];
    box.value = `${(this.visits += 1)}?${query}`; // even to the current place: an answer on its way may lead elsewhere
    box.dispatchEvent(new Event("input", { bubbles: true }));
  },

  // The page shows the place that the browser went to.
  arrived() {
    if (this.query === this.visiting) this.visiting = null;
  },
};

// A page sent with its opening values says so in its configuration. If the link leads elsewhere, hide those until the server
// has answered (see sections.css).
addEventListener("DOMContentLoaded", () => {
  if (new URLSearchParams(location.search).has("tab")) {
    document.body.dataset.arriving = "yes";
    setTimeout(() => delete document.body.dataset.arriving, BertLink.ARRIVING);
  }
  const sent = window.gradio_config?.components.find((one) => one.props.elem_id === "link");
  if (sent?.props.value) BertLink.follow(sent.props.value);
});

addEventListener("popstate", ({ state }) => BertLink.visit(state?.bert ?? location.search.slice(1)));
