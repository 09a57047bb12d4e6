// Building DOM from plain text, and moving in it by keyboard. Texts become text nodes and attributes, never markup.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) if (value != null) node.setAttribute(name, value);
  node.append(...children.filter((child) => child != null));
  return node;
}

/** An HTML element; attributes and children that are null are left out. */
export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** An SVG element, made like `el`. */
export const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** An element with text of our own files: Markdown without HTML, of which the server made HTML. */
export function ours(tag, attributes, html) {
  const made = el(tag, attributes);
  made.innerHTML = html;
  return made;
}

/** A button, which calls `press` when it is clicked. */
export function button(text, press, attributes = {}) {
  const made = el("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", press);
  return made;
}

/** The bare value: Gradio wraps values in proxies that are slow to read item by item. */
export const plain = (value) => value && typeof value === "object" ? JSON.parse(JSON.stringify(value)) : value;

/** The content of a file or another blob as a data URL. */
export function addressOf(blob) {
  const reader = new FileReader();
  return new Promise((resolve) => ((reader.onload = () => resolve(reader.result)), reader.readAsDataURL(blob)));
}

/** Make `nodes` the children of a box, in place of those of `old`. Those that stay are not moved, which would restart their transitions. */
export function arrange(box, old, nodes) {
  const stay = new Set(nodes);
  for (const node of old) if (!stay.has(node)) node.remove();
  let next = box.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else box.insertBefore(node, next);
  }
  return nodes;
}

/** Let the Tab key reach one of the items only; arrow keys reach the rest (roving tabindex). */
export const rove = (items, index) => items.forEach((item, i) => (item.tabIndex = i === index ? 0 : -1));

/** Scroll `box`, and nothing around it, as little as needed to show `item`. */
export function reveal(box, item) {
  const outer = box.getBoundingClientRect();
  const inner = item.getBoundingClientRect();
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top + 4;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 4;
  if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left + 4;
  else if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right + 4;
}

/** Show a dialog until it is closed, by Esc or a click beside it too. */
export function openDialog(dialog) {
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close()); // a click on the backdrop
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Call fn(elements) once the page has an element for each selector: Gradio makes them one by one. */
export function whenThere(selectors, fn) {
  const look = new MutationObserver(() => {
    const found = selectors.map((one) => document.querySelector(`gradio-app ${one}`));
    if (!found.every(Boolean)) return;
    look.disconnect();
    fn(found);
  });
  look.observe(document.documentElement, { childList: true, subtree: true });
}

/** Have the browser save a file. */
export function saveFile(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const FAR = 1e6; // cells: up to the edge
const MOVES = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
  Home: [0, -FAR], End: [0, FAR], PageUp: [-FAR, 0], PageDown: [FAR, 0],
};

export const clamp = (number, most) => Math.max(0, Math.min(most, number));

/** Whether a key is this letter, without the modifier keys of the browser. */
export const isKey = (event, letter) => event.key?.toLowerCase() === letter && !event.altKey && !event.ctrlKey && !event.metaKey;

/** The move of a key as [rows, columns]; undefined for other keys, and with a modifier key, which is the browser's. */
export const moveOf = (event) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey ? undefined : MOVES[event.key];

/** The index that a key moves to along one line of items, of which a page has `page`; -1 if the key is no move. */
export function along(event, index, count, page = 10) {
  const steps = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, Home: -FAR, End: FAR, PageUp: -page, PageDown: page };
  return index >= 0 && moveOf(event) ? clamp(index + steps[event.key], count - 1) : -1;
}

/** The index that a key moves to in a grid of `count` items, row by row; -1 if the key is no move. */
export function inGrid(event, index, columns, count) {
  const move = moveOf(event);
  if (!move || index < 0) return -1;
  const row = clamp(Math.floor(index / columns) + move[0], count / columns - 1);
  return row * columns + clamp((index % columns) + move[1], columns - 1);
}

/**
 * Keyboard moves with the focus: arrows to the next button, Home and End along the row, Page up and Page down along the column.
 * `grid()` gives the buttons, row by row; without `columns` they are one line.
 */
export function gridKeys(box, grid, moved) {
  box.addEventListener("keydown", (event) => {
    const { columns, buttons } = grid();
    const index = buttons.indexOf(event.target.closest("button"));
    const next = columns ? inGrid(event, index, columns, buttons.length) : along(event, index, buttons.length);
    if (next < 0) return;
    event.preventDefault();
    if (next === index) return;
    buttons[next].focus();
    moved(next);
  });
}
