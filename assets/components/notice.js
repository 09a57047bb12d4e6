// One sentence to the reader.
BertExplorer.define("Notice", ({ element, props, settings, watch }) => {
  const line = element.querySelector(".bx-notice");

  function draw() {
    const value = props.value ?? "";
    const text = typeof value === "string" ? value : value.text ?? "";
    const kind = typeof value === "string" ? "info" : value.kind;
    line.setAttribute("role", kind === "error" ? "alert" : "status");
    line.classList.toggle("bx-error", kind === "error");
    line.classList.toggle("bx-keeps", Boolean(settings.keep_height));
    line.textContent = text;
  }
  watch("value", draw);
  draw();
});
