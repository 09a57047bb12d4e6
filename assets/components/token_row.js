// Tokens as chips, or as cards with numbers; one is selected, and a second action masks.
import { el, gridKeys, isKey, plain, reveal, rove } from "../shared/dom.js";
import { choiceHere, drawn, host, unexpectedTitle, withheld } from "../shared/mounting.js";
import * as shared from "./long_input.js";

const LINE = 45; // px that a strip of one line is lower than

drawn("TokenRow", ({ root: row, trigger, props, settings }) => {
  const choice = choiceHere();
  row.classList.toggle("bx-cards", Boolean(settings.detail));
  row.classList.toggle("bx-hides", Boolean(settings.mask_on_click));
  const KINDS = { special: "added by the tokenizer", mask: "a blank", unk: "unknown to the vocabulary", continuation: "continues a word" };
  let value = null;
  let content = ""; // everything except the selection
  let chips = [];
  let maskButton = null;

  const joins = (index) => (value.kinds[index + 1] === "continuation" ? " bx-joins" : "");
  const canMask = (index) => !settings.passive && value.kinds[index] !== "special";

  function piece(token, kind) {
    const [mark] = (kind === "continuation" || kind === "piece") && token.match(/^(##|Ġ|▁)(?=.)/) || [""];
    return mark ? [el("i", {}, mark), token.slice(mark.length)] : [token];
  }

  function describe(index) {
    const kind = KINDS[value.kinds[index]];
    const segment = value.segments && value.letters ? `, segment ${"AB"[value.segments[index]] ?? value.segments[index]}` : "";
    return `${value.tokens[index]}, token ${index}${segment}${kind ? `, ${kind}` : ""}`;
  }

  function numbers(index) {
    const one = (name, list) => (list ? el("span", { class: "bx-number", "data-name": name }, String(list[index])) : null);
    return [one("id", value.ids), one("segment", value.segments), one("position", value.positions), one("mask", value.mask), one("chars", value.chars)];
  }

  function chip(token, index) {
    const kind = value.kinds[index];
    const look = `bx-token bx-${kind}${value.letters && value.segments[index] === 1 ? " bx-b" : ""}${joins(index)}`;
    const hides = settings.mask_on_click && canMask(index);
    const title = hides ? (kind === "mask" ? "Click to bring the word back" : "Click to hide this word") : value.hints?.[index] || null;
    return el("button", { type: "button", class: look, "aria-label": describe(index), title, "data-token": settings.passive ? null : index,
      "aria-disabled": settings.mask_on_click && !hides ? "true" : null }, el("bdi", {}, ...piece(token, kind)));
  }

  function build() {
    chips = value.tokens.map(chip);
    maskButton = null;
    row.replaceChildren(...chips.map((button, index) => {
      const starts = value.letters && value.segments[index] !== value.segments[index - 1];
      const letter = starts ? el("span", { class: "bx-letter", "aria-hidden": "true" }, "AB"[value.segments[index]] ?? "") : null;
      return el("span", { class: `bx-cell${joins(index)}` }, letter, button, ...(settings.detail ? numbers(index) : []));
    }));
  }

  function mark(selected, scroll) {
    value.selected = selected;
    rove(chips, selected ?? 0);
    chips.forEach((button, i) => !settings.mask_on_click && button.setAttribute("aria-pressed", String(i === selected)));
    maskButton?.remove();
    maskButton = null;
    if (selected == null || settings.mask_on_click) return;
    const does = value.kinds[selected] === "mask" ? "unmask" : "mask";
    if (canMask(selected)) chips[selected].after(maskButton = el("button", { type: "button", class: "bx-do-mask", tabindex: "-1", title: "or press M, or double-click",
      "aria-label": `${does} ${value.tokens[selected]}` }, does));
    if (scroll) reveal(row, chips[selected]);
  }

  // Mark the chips that the pictures show, and scroll to them.
  function frame() {
    const [keys, queries] = ["key", "query"].map((side) => new Set(value?.long ? chips.slice(...shared.seen(side)) : []));
    for (const chip of chips) {
      chip.classList.toggle("bx-looked-at", keys.has(chip));
      chip.classList.toggle("bx-looks", queries.has(chip));
    }
    for (const chip of [...queries].reverse()) reveal(row, chip);
  }

  // Mark the words that the model does not expect.
  function doubt() {
    const { of, words } = (withheld.doubts ? null : withheld.unexpected) ?? {};
    const at = new Map(value && !settings.passive && value.tokens.join(" ") === of ? words.map((one) => [one.token, one]) : []);
    chips.forEach((chip, index) => {
      const word = at.get(index);
      if (!word && !chip.classList.contains("bx-unexpected")) return;
      chip.classList.toggle("bx-unexpected", Boolean(word));
      chip.title = word ? unexpectedTitle(word) : value?.hints?.[index] ?? "";
    });
  }

  function draw(sent) {
    const before = value;
    value = sent;
    const { selected, ...rest } = value ?? {};
    const now = value ? JSON.stringify(rest) : "";
    const same = now === content;
    content = now;
    if (!value) return row.replaceChildren();
    const focused = chips.indexOf(document.activeElement);
    if (!same) build();
    mark(same ? choice.settle(selected, () => draw(plain(props.value))) : selected, true);
    if (settings.with_window) {
      const { selected: token, kinds, tokens } = value;
      if (!same) shared.open(tokens.length, token ?? Math.max(0, kinds.indexOf("mask")));
      else if (token != null && token !== before?.selected) shared.show(token);
    }
    doubt();
    if (!document.querySelector("#put-back, #notice .bx-notice:not(:empty)")) row.toggleAttribute("data-wraps", row.scrollHeight > LINE); // it stays so beside that
    if (!same && focused >= 0) chips[Math.min(focused, chips.length - 1)]?.focus({ preventScroll: true });
  }

  function select(index) {
    choice.set(index);
    mark(index, false);
    if (settings.with_window) shared.show(index, true);
    props.value = value;
    if (host.page && !settings.passive) host.page.draw({ token: index });
    else trigger("select", { index, value: value.tokens[index] });
  }

  function mask(index) {
    if (index >= 0 && canMask(index)) trigger("mask", { index, value: value.tokens[index] });
  }

  row.addEventListener("click", (event) => {
    if (maskButton?.contains(event.target)) return mask(value.selected);
    const index = chips.indexOf(event.target.closest(".bx-token"));
    if (index < 0 || event.detail > 1) return; // the first click of a double click selects, dblclick does the rest
    if (settings.mask_on_click) mask(index);
    else select(index);
  });
  row.addEventListener("dblclick", ({ target }) => settings.mask_on_click || mask(chips.indexOf(target.closest(".bx-token"))));
  gridKeys(row, () => ({ buttons: chips }), (index) => rove(chips, index));
  row.addEventListener("keydown", (event) => isKey(event, "m") && mask(chips.indexOf(event.target)));
  if (settings.with_window) shared.watch(frame, row);
  if (!settings.passive) document.addEventListener("bert:withheld", () => row.isConnected && doubt());
  return draw;
});
