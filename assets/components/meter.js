// The progress of long work: a sentence, and a thin bar below it.
BertExplorer.define("Meter", ({ element, props }) => {
  const { el } = BertExplorer;
  const root = element.querySelector(".bx-meter");
  const text = el("span");
  const bar = el("progress", { max: 1, "aria-label": "progress" });
  root.append(text, bar);

  function draw() {
    const value = BertExplorer.plain(props.value);
    text.textContent = value?.text ?? "";
    bar.hidden = !value?.text;
    if (typeof value?.share === "number") bar.value = value.share;
    else bar.removeAttribute("value");
  }

  return draw;
});
