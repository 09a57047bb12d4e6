// A text with one part marked.
BertExplorer.define("Passage", ({ element, props }) => {
  const { el } = BertExplorer;
  const root = element.querySelector(".bx-passage");

  return () => {
    const value = BertExplorer.plain(props.value || null);
    root.replaceChildren();
    if (value) root.append(value.before, ...(value.marked ? [el("mark", {}, value.marked)] : []), value.after);
  };
});
