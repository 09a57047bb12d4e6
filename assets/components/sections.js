// The sections above the tabs, of which the open one shows its tabs, and the list of all views (Ctrl K).
BertExplorer.define("Sections", ({ element, props }) => {
  const { el } = BertExplorer;
  const root = element.querySelector(".bx-sections");
  const LONG = 12; // letters
  const last = new Map(); // by section, its last open tab
  let buttons = [];

  const tabs = () => [...document.querySelectorAll("gradio-app #tabs [role=tab]")];

  // The open section is that of the open tab, whoever opened it.
  function follow() {
    const { sections } = props.value;
    const open = tabs().find((tab) => tab.getAttribute("aria-selected") === "true");
    if (!open || document.body.dataset.arriving) return;
    const number = sections.findIndex((one) => one.tabs.includes(BertPage.idOf(open)));
    last.set(number, BertPage.idOf(open));
    if (document.body.dataset.section === String(number) && buttons[number].ariaSelected === "true") return;
    document.body.dataset.section = number;
    mark(number);
  }

  function mark(number) {
    buttons.forEach((button, i) => (button.ariaSelected = String(i === number)));
    BertExplorer.rove(buttons, number);
  }

  // On a phone a long label is cut to its first word, so that all sections are visible.
  function named(label) {
    const [first, ...rest] = label.split(" ");
    return label.length > LONG ? [first, el("span", { class: "bx-rest" }, ` ${rest.join(" ")}`)] : [label];
  }

  function draw() {
    const { sections } = BertExplorer.plain(props.value);
    buttons = sections.map(({ label }) => el("button", { type: "button", role: "tab", "data-label": label }, ...named(label)));
    root.replaceChildren(...buttons);
    const asked = new URLSearchParams(location.search).get("tab"); // from a link
    const number = Math.max(0, sections.findIndex((one) => one.tabs.includes(asked)));
    mark(number);
    document.body.dataset.section ??= number;
    follow();
  }

  root.addEventListener("click", ({ target }) => {
    const number = buttons.indexOf(target.closest("button"));
    if (number < 0 || !element.closest("gradio-app")) return; // the painted page handles it itself
    const ids = props.value.sections[number].tabs;
    const there = tabs().filter((tab) => ids.includes(BertPage.idOf(tab)));
    (there.find((tab) => BertPage.idOf(tab) === last.get(number)) ?? there[0])?.click();
  });

  root.addEventListener("keydown", (event) => {
    const next = BertExplorer.along(event, buttons.indexOf(event.target), buttons.length);
    if (next < 0 || ["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    buttons[next].focus();
    buttons[next].click();
  });

  if (element.closest("gradio-app")) {
    new ResizeObserver(() => document.documentElement.style.setProperty("--bx-sections", `${root.offsetWidth}px`)).observe(root);
    new MutationObserver(follow).observe(document.body, { subtree: true, attributeFilter: ["aria-selected", "data-arriving"] });
    BertFinder.views = () => BertExplorer.plain(props.value.views);
  }
  return draw;
});

// 'What are you looking for?': every view by its question, tab and needs.
window.BertFinder = {
  views: () => [],

  open() {
    const { el } = BertExplorer;
    if (document.querySelector("#finder[open]")) return;
    const input = el("input", { type: "text", placeholder: "What are you looking for?", "aria-label": "What are you looking for?", "aria-controls": "finder-list", role: "combobox", "aria-expanded": "true", autocomplete: "off", spellcheck: "false" });
    const list = el("ul", { id: "finder-list", role: "listbox", "aria-label": "views" });
    const dialog = el("dialog", { id: "finder", "aria-label": "find a view" }, input, list);
    const there = new Set([...document.querySelectorAll("gradio-app #tabs [role=tab]")].map((tab) => tab.textContent.trim()));
    const views = this.views();
    let found = [];
    let at = 0;

    const mark = (index) => {
      at = Math.max(0, Math.min(found.length - 1, index));
      [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === at));
      const item = list.children[at];
      input.setAttribute("aria-activedescendant", item?.id ?? "");
      if (item) BertExplorer.reveal(list, item);
    };
    const search = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const text = ({ question, tab, choice }) => `${question} ${tab} ${choice}`.toLowerCase();
      found = views.filter((view) => there.has(view.tab) && words.every((word) => text(view).includes(word)));
      list.replaceChildren(...found.map(({ question, tab, choice, needs }, i) =>
        el("li", { role: "option", id: `finder-${i}` }, el("b", {}, question), el("span", {}, [tab, choice !== tab && choice].filter(Boolean).join(" › ")), needs ? el("small", {}, `needs ${needs}`) : null)));
      if (!found.length) list.append(el("li", { class: "bx-none" }, "No view asks that. Try one word, such as head, layer or neuron."));
      mark(0);
    };
    const go = (index) => {
      const view = found[index];
      if (!view) return;
      dialog.close();
      BertPage.open(view.tab, view.choice);
    };
    input.addEventListener("input", search);
    dialog.addEventListener("keydown", (event) => {
      const next = BertExplorer.along(event, at, found.length);
      if (event.key === "Enter") go(at);
      else if (["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key) && next >= 0) mark(next);
      else return;
      event.preventDefault();
    });
    list.addEventListener("click", ({ target }) => go([...list.children].indexOf(target.closest("li"))));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    search();
    input.focus();
  },
};

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  BertFinder.open();
});
