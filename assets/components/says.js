// What the model says now, beside the input in every tab.
BertExplorer.define("Says", ({ element, props }) => {
  const { el } = BertExplorer;
  const root = element.querySelector(".bx-says");
  const bar = document.querySelector("#bar");
  // It stays below the bar while one scrolls, however many lines of tokens that has.
  if (bar) new ResizeObserver(() => document.documentElement.style.setProperty("--bx-bar", `${bar.offsetHeight}px`)).observe(bar);

  function draw() {
    const value = BertExplorer.plain(props.value || null);
    root.replaceChildren();
    if (!value) return;
    if (value.hint) root.append(el("span", { class: "bx-says-hint" }, value.hint));
    for (const { asked, answer, share, before } of value.answers) {
      root.append(el("span", {}, asked ? el("bdi", { class: "bx-says-asked" }, asked) : null, el("b", {}, el("bdi", {}, answer)), ` ${share}`,
        before ? el("s", { title: "before the change" }, el("bdi", {}, before)) : null));
    }
  }
  return draw;
});
