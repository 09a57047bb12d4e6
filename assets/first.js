// What the page opens with, drawn from its configuration while Gradio's own scripts are still on their way: the tokens and
// the grid of heads in their places, until the page itself shows them.
BertPage.paintFirst = function () {
  const { el } = BertExplorer;
  const parts = new Map((window.gradio_config?.components ?? []).map((one) => [one.props.elem_id, one.props]));
  if (!parts.get("strip")?.value) return; // not known yet, or another page was asked for
  const asked = new URLSearchParams(location.search).get("__theme");
  if (asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches) document.body.classList.add("dark");

  const drawn = (id) => {
    const { html_template: skeleton, js_on_load: script, value } = parts.get(id);
    const box = el("div");
    box.innerHTML = skeleton; // a constant of ours: values are drawn into it as text
    new Function("element", "trigger", "props", "watch", script)(box, () => {}, { value }, () => {});
    return box;
  };
  const text = (id) => parts.get(id)?.value ?? "";
  const tabs = window.gradio_config.components.filter((one) => one.type === "tabitem" && one.props.visible);
  const box = (label, id) => el("span", {}, label, el("b", {}, text(id)));
  const bar = el("div", { class: "bx-first-bar" },
    el("div", { id: "title" }, el("h1", {}, "BERT Explorer")),
    el("div", { class: "bx-first-texts" }, box("A", "text-a"), box("B", "text-b")),
    drawn("strip"));
  const names = tabs.map(({ props }) => el("span", { class: props.id === "attention" ? "bx-open" : null }, props.label));
  const first = el("div", { id: "first", inert: "" }, bar,
    el("p", {}, text("about").replaceAll("*", "")),
    el("div", { class: "bx-first-tabs" }, ...names),
    el("h2", {}, parts.get("attention-view").label),
    el("div", { class: "bx-finding" }, parts.get("attention-finding").value?.text ?? ""),
    el("div", { class: "bx-first-pair" }, drawn("attention-heads-grid"), el("div", { class: "bx-first-picture" })));
  document.body.append(first);

  const leave = () => {
    there.disconnect();
    first.remove();
  };
  const there = new MutationObserver(() => {
    const arrived = document.querySelector("gradio-app :is(#attention-heads-grid canvas, .toast-wrap .error, .wrap .error)");
    if (arrived) setTimeout(leave, 80); // what has been drawn there has been laid out
  });
  setTimeout(leave, 60_000); // what has not come by then is to be seen as it is
  there.observe(document.querySelector("gradio-app"), { childList: true, subtree: true });
};
