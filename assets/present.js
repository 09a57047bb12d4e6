// Presenting: one picture fills the screen, with its question and finding; keys step through the selection.
import { answersButton } from "./answers.js";
import { isTyping } from "./page/typing.js";
import { button, el } from "./shared/dom.js";

const PICTURES = ".bx-flow, .bx-chart, .bx-heads, .bx-lines, .bx-words, .bx-board, .bx-bars, .bx-strips, .bx-architecture, .bx-cards";
const KEPT_KEYS = ".bx-flow, .bx-heads, .bx-words, .bx-board"; // these handle the keys themselves
const LARGE = 0.6; // share of the largest picture's area from which a picture counts as a main one
const LEAST_ZOOM = { wide: 1.84, narrow: 1.3 }; // 12 px type becomes 22 px, on a phone 16 px
const MOST_ZOOM = 3;

let pointed = null; // the picture pointed at last
let shown = null; // { block, picture, focus, scroll, inert } while one is presented
let stage = null; // the element around the picture

const visible = (node) => node.getClientRects().length > 0;
const panel = () => [...document.querySelectorAll("#tabs [role=tabpanel]")].find(visible);
const area = (node) => node.clientWidth * node.clientHeight;

function mainPicture() {
  const all = [...(panel()?.querySelectorAll(PICTURES) ?? [])].filter((node) => visible(node) && node.childElementCount);
  if (all.includes(pointed)) return pointed;
  const largest = Math.max(...all.map(area));
  return all.find((node) => area(node) >= LARGE * largest);
}

// ---- Stepping changes the page's selection: a number in the bar, or the token in the strip.

const number = (name) => document.querySelector(`#steppers input[data-name="${name}"]`);
const across = () => number("head");
const down = () => number("layer") ?? number("hidden_state");
const tokens = () => [...document.querySelectorAll("#strip .bx-token")];
const isChosen = (chip) => chip.getAttribute("aria-pressed") === "true";

function step(rows, columns) {
  const box = rows ? down() : across();
  if (box) {
    box.value = Number(box.value) + rows + columns;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  } else if (columns) {
    const row = tokens();
    row[Math.max(0, row.findIndex(isChosen)) + columns]?.click();
  }
}

// What the keys do here, and the current position.
function steps() {
  if (shown.picture.matches(KEPT_KEYS)) return "← ↑ ↓ → cells";
  const rows = number("layer") ? "layers" : "hidden states";
  return [`← → ${across() ? "heads" : "tokens"}`, down() && `↑ ↓ ${rows}`].filter(Boolean).join(" · ");
}

function selected() {
  const { picture } = shown;
  const cell = picture.matches(KEPT_KEYS) && picture.contains(document.activeElement) && document.activeElement;
  if (cell) return cell.getAttribute("aria-label") ?? "";
  const token = tokens().find(isChosen);
  const numbers = [...document.querySelectorAll("#steppers input")].map((box) => `${box.dataset.name.replace("_", " ")} ${box.value}`);
  return [...numbers, token && `token ${token.textContent}`].filter(Boolean).join(", ");
}

// ---- The stage.

// As large as fits, and never too small for the last row.
function zoom({ picture, block }) {
  const least = innerWidth > 640 ? LEAST_ZOOM.wide : LEAST_ZOOM.narrow;
  block.style.setProperty("--bx-zoom", least);
  if (!picture.isConnected || !picture.matches(".bx-heads, .bx-board, .bx-words, .bx-bars")) return;
  const room = [block.clientWidth - 64, innerHeight - stage.head.offsetHeight - stage.foot.offsetHeight - 24];
  const used = picture.firstElementChild?.matches("table") ? picture.firstElementChild : picture;
  const { width, height } = used.getBoundingClientRect();
  const free = Math.min(picture === used ? Infinity : room[0] / width, room[1] / height);
  block.style.setProperty("--bx-zoom", Math.max(least, Math.min(MOST_ZOOM, least * free)));
}

function build() {
  const close = button("×", stop, { title: "Close (Esc)", "aria-label": "Close" });
  stage = {
    view: el("p", { class: "bx-stage-view" }), title: el("h2", {}), finding: el("p", { class: "bx-stage-finding" }), told: el("div", { class: "block bx-answer" }), now: el("span", { role: "status" }), keys: el("span", { class: "bx-stage-keys" }),
  };
  stage.told.append(stage.finding);
  const answers = el("div", { class: "bx bx-answers" }, answersButton());
  stage.head = el("header", {}, el("div", {}, stage.view, stage.title, stage.told), answers, close);
  stage.foot = el("footer", {}, stage.now, stage.keys);
  stage.box = el("section", { id: "stage", popover: "manual", "aria-label": "Presented picture" }, stage.head, stage.foot);
  document.body.append(stage.box);
  const room = new ResizeObserver(() => {
    const { style } = document.documentElement;
    style.setProperty("--bx-stage-head", `${stage.head.offsetHeight}px`);
    style.setProperty("--bx-stage-foot", `${stage.foot.offsetHeight}px`);
    if (!shown) return;
    zoom(shown);
    resized(shown.picture); // the heading came, or has another line
  });
  room.observe(stage.head);
  room.observe(stage.foot);
}

const text = (selector) => [...(panel()?.querySelectorAll(selector) ?? [])].find((one) => visible(one) && one.textContent.trim())?.textContent.trim() ?? "";

function tell() {
  if (!shown) return;
  if (!shown.block.isConnected || !panel()?.contains(shown.block)) return stop();
  const say = (node, words) => node.textContent !== words && (node.textContent = words);
  const tab = document.querySelector('#tabs [role=tab][aria-selected="true"]');
  const view = [...panel().querySelectorAll("[id$=-view] label:has(input:checked)")].find(visible);
  say(stage.view, [tab, view].filter(Boolean).map((one) => one.textContent.trim()).join(" · "));
  say(stage.title, text(".question h2"));
  say(stage.finding, text(".bx-finding p"));
  stage.told.hidden = !stage.finding.textContent;
  stage.told.toggleAttribute("data-shown", Boolean(panel().querySelector("[id$=-finding][data-shown]")));
  say(stage.now, selected());
  say(stage.keys, `${steps()} · Esc`);
}

// All elements outside the picture, made unreachable meanwhile.
function others(block) {
  const found = [];
  for (let node = block; node !== document.body; node = node.parentElement) {
    found.push(...[...node.parentElement.children].filter((one) => one !== node && one !== stage.box && !one.inert));
  }
  return found;
}

/** Present the picture pointed at last, or the main one. */
export function present() {
  const picture = mainPicture();
  const block = picture?.closest(".block");
  if (shown || !block) return;
  if (!stage) build();
  shown = { picture, block, focus: document.activeElement, scroll: [scrollX, scrollY], inert: others(block) };
  block.popover = "manual";
  stage.box.showPopover();
  block.showPopover();
  for (const one of shown.inert) one.inert = true;
  document.body.dataset.presenting = "yes";
  block.dataset.presented = "yes";
  block.tabIndex = -1;
  const first = picture.matches(KEPT_KEYS) && picture.querySelector('button[aria-pressed="true"], button[tabindex="0"]');
  (first && first.checkVisibility({ visibilityProperty: true }) ? first : block).focus({ preventScroll: true });
  tell();
  zoom(shown);
  shown.observer = new MutationObserver(tell);
  shown.observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributeFilter: ["aria-pressed"] });
  resized(picture);
}

function stop() {
  if (!shown) return;
  const { picture, block, focus, scroll, inert, observer } = shown;
  shown = null;
  observer?.disconnect();
  for (const one of inert) one.inert = false;
  delete document.body.dataset.presenting;
  delete block.dataset.presented;
  block.removeAttribute("popover");
  block.removeAttribute("tabindex");
  block.style.removeProperty("--bx-zoom");
  stage.box.hidePopover();
  scrollTo(...scroll);
  if (focus?.isConnected) focus.focus({ preventScroll: true });
  resized(picture);
}

// Charts choose their font size by where they stand.
const resized = (picture) => picture.dispatchEvent(new Event("bx-restage"));

function keys(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || !event.isTrusted) return;
  if (!shown) {
    if (event.key?.toLowerCase() !== "p" || isTyping(event.target)) return;
    event.preventDefault();
    return present();
  }
  if (event.key === "Escape" || event.key.toLowerCase() === "p") {
    event.preventDefault();
    event.stopPropagation();
    return stop();
  }
  const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const kept = shown.picture.matches(KEPT_KEYS) ? shown.picture.contains(event.target) : event.target.closest(".bx-map");
  if (!move || kept) return;
  event.preventDefault();
  event.stopPropagation();
  step(...move);
  tell();
}

const remember = ({ target }) => {
  const picture = target.closest?.(PICTURES) ?? target.closest?.(".bx-cover")?.parentElement.querySelector(PICTURES);
  if (picture && !shown) pointed = picture;
};
document.addEventListener("keydown", keys, { capture: true });
document.addEventListener("pointerover", remember);
document.addEventListener("focusin", (event) => {
  remember(event);
  tell();
});

// Print in light colours.
let wasDark = false;
addEventListener("beforeprint", () => {
  wasDark = document.body.classList.contains("dark");
  document.body.classList.remove("dark");
});
addEventListener("afterprint", () => wasDark && document.body.classList.add("dark"));
