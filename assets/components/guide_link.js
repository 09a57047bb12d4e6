// The link to the guide's section on the open view.
window.BertGuide = {
  // The anchor of a heading, as GitHub and the guide make it.
  anchor: (text) => text.toLowerCase().replace(/[^\w -]/g, "").trim().replaceAll(" ", "-"),

  address() {
    const tab = document.querySelector('gradio-app #tabs [role=tab][aria-selected="true"]');
    if (!tab) return "bx/guide";
    const choice = document.querySelector(`#${BertPage.idOf(tab)}-view input:checked`)?.closest("label").textContent;
    const section = [tab.textContent, choice].filter(Boolean).map(this.anchor).join("-");
    return `bx/guide/tabs?__theme=${document.body.classList.contains("dark") ? "dark" : "light"}#${section}`;
  },

  link() {
    const { el } = BertExplorer;
    const title = "What the guide says of this view";
    const link = el("a", { href: "bx/guide", target: "_blank", rel: "noopener", title, class: "bx-guide" }, el("span", {}, "Guide"));
    for (const kind of ["pointerenter", "focus", "click"]) link.addEventListener(kind, () => (link.href = this.address()));
    return link;
  },
};
