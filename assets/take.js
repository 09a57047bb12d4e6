// The dialog of links and files: the link, its QR code, and a file for each export format.
// To add something, listen to `bert:take` on the document; `event.detail` is an empty element in the dialog.
window.BertTake = {
  NO_LINK: "This is too long for a link; shorten the texts or the settings.",
  ways: [], // { key, label }, from the server
  longest: 0, // characters that the QR code can hold

  // The server's address of a file of what the link shows.
  file: (name, query) => `bx/take/${name}?${query}`,

  show() {
    const { el } = BertExplorer;
    const query = BertLink.query ?? location.search.slice(1);
    const address = `${location.origin}${location.pathname}?${query}`;
    const said = el("p", { id: "take-said", role: "status" });
    const box = el("input", { id: "take-link", type: "text", readonly: "", value: address });
    const copy = el("button", { type: "button", class: "bx-take-button" }, "Copy");
    const close = el("button", { type: "button", class: "bx-take-button" }, "Close");
    const more = el("div", { id: "take-more" });
    const link = query
      ? [el("div", { class: "bx-take-link" }, el("label", { for: "take-link" }, "Link"), box, copy), said,
         el("div", { class: "bx-take-ways" }, this.code(address, query), el("div", {}, ...this.files(query, said), more))]
      : [el("p", {}, this.NO_LINK)];
    const dialog = el("dialog", { id: "take", "aria-labelledby": "take-title" },
      el("h2", { id: "take-title" }, "Take this view away"), ...link, close);
    copy.addEventListener("click", () => this.copy(box, said));
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close()); // a click on the backdrop
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    (query ? copy : close).focus();
    if (!query) return;
    document.dispatchEvent(new CustomEvent("bert:take", { detail: more }));
    this.copy(box, said);
  },

  async copy(box, said) {
    try {
      await navigator.clipboard.writeText(box.value);
      said.textContent = "The link is on the clipboard.";
    } catch {
      box.select();
      said.textContent = "The link is marked; copy it from there.";
    }
  },

  // The QR code, which a click enlarges to the screen; or why there is none.
  code(address, query) {
    const { el } = BertExplorer;
    if (address.length > this.longest) return el("p", { class: "bx-take-code" }, "The link is too long for a QR code.");
    const image = el("img", { src: this.file("link.svg", query), alt: "QR code of the link", width: 180, height: 180 });
    const code = el("button", { type: "button", "aria-pressed": "false", title: "As large as the screen, and back" }, image);
    code.addEventListener("click", () => code.setAttribute("aria-pressed", code.getAttribute("aria-pressed") === "false"));
    const local = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
    const note = local ? el("p", {}, "It leads to this machine only: the page is open as ", el("b", {}, location.hostname), ".") : null;
    return el("div", { class: "bx-take-code" }, code, note);
  },

  files(query, said) {
    const { el } = BertExplorer;
    const items = this.ways.map(({ key, label }) => {
      const link = el("a", { href: this.file(`view.${key}`, query), download: "" }, label, " ", el("small", {}, `.${key}`));
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.save(link.href, said);
      });
      return el("li", {}, link);
    });
    return items.length ? [el("h3", {}, "Files"), el("ul", {}, ...items)] : [];
  },

  // Fetched, not followed, so that a refusal is shown here instead of saved.
  async save(href, said) {
    said.textContent = "The file is being made…";
    try {
      const answer = await fetch(href);
      if (!answer.ok) throw new Error((await answer.json()).error);
      const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition"))?.[1] ?? "view";
      const link = BertExplorer.el("a", { href: URL.createObjectURL(await answer.blob()), download: name });
      link.click();
      URL.revokeObjectURL(link.href);
      said.textContent = `${name} is made.`;
    } catch (error) {
      said.textContent = error instanceof TypeError ? "The app does not answer; try again in a moment." : error.message;
    }
  },
};
