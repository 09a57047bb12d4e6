// What the page does by itself, without asking Python.
window.BertPage = {
  timers: new Map(),

  // Resolves once nothing has been typed for a moment; calls that were overtaken never resolve, so only the last runs.
  debounced(values, name = "input", wait = 350) {
    return new Promise((resolve) => {
      clearTimeout(this.timers.get(name));
      this.timers.set(name, setTimeout(() => resolve(values), wait));
    });
  },

  // A picture that is being worked on fades; the style sheet waits a little first, so that quick answers do not blink.
  busy(values) {
    document.body.dataset.busy = "yes";
    return values;
  },

  done() {
    delete document.body.dataset.busy;
  },

  // Waits for somebody who is typing; a text that an example or a click has set is read at once.
  async changed(values) {
    const typing = document.activeElement?.closest("#input");
    return this.busy(await this.debounced(values, "input", typing ? 350 : 0));
  },

  // A table as a file, made here; a cell that a spreadsheet would run as a formula gets an apostrophe.
  downloadCsv({ headers, data }, name) {
    const cell = (value) => {
      const text = typeof value === "string" && /^[=+\-@\t]/.test(value) ? `'${value}` : String(value ?? "");
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [headers, ...data].map((row) => row.map(cell).join(",")).join("\r\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${lines}\r\n`], { type: "text/csv" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  },

  toggleTheme() {
    document.body.classList.toggle("dark");
  },

  // The address bar gets the link too, so that it can be copied by hand where the clipboard is closed to us.
  async copyLink(query) {
    const address = `${location.origin}${location.pathname}?${query}`;
    history.replaceState(null, "", address);
    try {
      await navigator.clipboard.writeText(address);
    } catch {
      return "The link to this view is in the address bar.";
    }
    return "The link to this view is on the clipboard.";
  },
};
