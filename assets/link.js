// The address bar follows what is seen, and the page goes where the browser goes back to.
window.BertLink = {
  PATIENCE: 5_000, // ms until a place that the browser went to is waited for no more
  ARRIVING: 30_000, // ms until a page that was opened by a link is shown as it is
  TYPING: 10_000, // ms in which texts that follow each other count as one
  MAIN: ["model", "tab", "view"], // of these every change is a step to go back to, as of the texts
  TEXTS: ["a", "b"],
  query: null, // of the link to what is seen; "" where no link can hold it
  visiting: null, // where the browser went, and
  since: 0, // when
  typed: 0, // when a text was last a step
  visits: 0,

  parts(query, names) {
    const parameters = new URLSearchParams(query);
    return JSON.stringify(names.map((name) => parameters.get(name)));
  },

  // Where a link leads from this page. What Gradio reads, such as __theme, stays.
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
    if (opens) { // the address is what was asked for, and no step is taken
      history.replaceState({ ...history.state, bert: query }, "");
      return;
    }
    if (this.visiting !== null) {
      const waits = query !== this.visiting && Date.now() - this.since < this.PATIENCE;
      if (!waits) this.visiting = null;
      if (waits) return; // the answer to what was done before
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
    box.value = `${(this.visits += 1)}?${query}`; // even to where the page is: an answer may be on its way that leads elsewhere
    box.dispatchEvent(new Event("input", { bubbles: true }));
  },

  // The page is where the browser went.
  arrived() {
    if (this.query === this.visiting) this.visiting = null;
  },
};

// A page that is sent with what it opens with says so in its configuration. Where a link leads elsewhere, what is seen until the
// server has answered is not what was asked for, and is hidden (see sections.css).
addEventListener("DOMContentLoaded", () => {
  if (new URLSearchParams(location.search).has("tab")) {
    document.body.dataset.arriving = "yes";
    setTimeout(() => delete document.body.dataset.arriving, BertLink.ARRIVING);
  }
  const sent = window.gradio_config?.components.find((one) => one.props.elem_id === "link");
  if (sent?.props.value) BertLink.follow(sent.props.value);
});

addEventListener("popstate", ({ state }) => BertLink.visit(state?.bert ?? location.search.slice(1)));
