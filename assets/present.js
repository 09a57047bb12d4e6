// Presenting: one picture fills the screen, with its question and finding; keys step through the selection. The style sheet hides
// all else (present.css), for keys and screen readers too.
import { answersButton } from "./answers.js";
import { isTyping } from "./page/typing.js";
import { button, el, isKey, moveOf } from "./shared/dom.js";

const PICTURES = ".bx-flow, .bx-chart, .bx-heads, .bx-lines, .bx-words, .bx-board, .bx-bars, .bx-strips, .bx-architecture, .bx-cards";
const KEPT_KEYS = ".bx-flow, .bx-heads, .bx-words, .bx-board"; // these handle the keys themselves
const LARGE = 0.6; // share of the largest picture's area from which a picture counts as a main one
const LEAST_ZOOM = { wide: 1.84, narrow: 1.3 }; // 12 px type becomes 22 px, on a phone 16 px
const MOST_ZOOM = 3;

let pointed = null; // the picture pointed at last
let shown = null; // { block, picture, above, focus, scroll } while one is presented; `above` are its question and finding

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
const isChosen = (chip) => chip.ariaPressed === "true";

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

// What the keys do here.
function steps() {
  if (shown.picture.matches(KEPT_KEYS)) return "← ↑ ↓ → cells";
  return [`← → ${across() ? "heads" : "tokens"}`, down() && `↑ ↓ ${number("layer") ? "layers" : "hidden states"}`].filter(Boolean).join(" · ");
}

function selected() {
  if (shown.picture.matches(KEPT_KEYS) && shown.picture.contains(document.activeElement)) return document.activeElement.ariaLabel ?? "";
  const token = tokens().find(isChosen);
  const numbers = [...document.querySelectorAll("#steppers input")].map((box) => `${box.dataset.name.replace("_", " ")} ${box.value}`);
  return [...numbers, token && `token ${token.textContent}`].filter(Boolean).join(", ");
}

// ---- The stage.

const now = el("span", { role: "status" });
const keysSaid = el("span", { class: "bx-stage-keys" });
const foot = el("footer", {}, now, keysSaid);
const stage = el("section", { id: "stage", "aria-label": "Presented picture", hidden: "" }, foot);

// As large as fits, and never too small for the last row.
function zoom({ picture, block }) {
  const least = innerWidth > 640 ? LEAST_ZOOM.wide : LEAST_ZOOM.narrow;
  block.style.setProperty("--bx-zoom", least);
  if (!picture.isConnected || !picture.matches(".bx-heads, .bx-board, .bx-words, .bx-bars")) return;
  const used = picture.firstElementChild?.matches("table") ? picture.firstElementChild : picture;
  const { width, height } = used.getBoundingClientRect();
  const free = Math.min(picture === used ? Infinity : (block.clientWidth - 64) / width, (block.clientHeight - 24) / height);
  block.style.setProperty("--bx-zoom", Math.max(least, Math.min(MOST_ZOOM, least * free)));
}

// The picture is between what is above it and the foot.
const room = new ResizeObserver(() => {
  if (!shown) return;
  const { style } = document.documentElement;
  const [question = 0, finding = 0] = shown.above.map((one) => one.offsetHeight);
  style.setProperty("--bx-stage-title", `${question}px`);
  style.setProperty("--bx-stage-head", `${question + finding + 38}px`);
  style.setProperty("--bx-stage-foot", `${foot.offsetHeight}px`);
  zoom(shown);
  resized(shown.picture); // the heading came, or has another line
});

function tell() {
  if (!shown) return;
  if (!shown.block.isConnected || !panel()?.contains(shown.block)) return stop();
  now.textContent = selected();
  keysSaid.textContent = `${steps()} · Esc`;
}

/** Present the picture pointed at last, or the main one. */
export function present() {
  const picture = mainPicture();
  const block = picture?.closest(".block");
  if (shown || !block) return;
  if (!stage.isConnected) {
    const close = button("×", stop, { title: "Close (Esc)", "aria-label": "Close" });
    stage.prepend(el("div", { class: "bx bx-answers" }, answersButton()), close);
    document.body.append(stage);
  }
  const above = [".question .block:has(h2)", ".block:has(> .html-container .bx-finding)"].map((one) => [...panel().querySelectorAll(one)].find(visible)).filter(Boolean);
  shown = { picture, block, above, focus: document.activeElement, scroll: [scrollX, scrollY] };
  stage.hidden = false;
  document.body.dataset.presenting = "yes";
  block.dataset.presented = "yes";
  above.forEach((one, i) => (one.dataset.stage = ["question", "finding"][i]));
  block.tabIndex = -1;
  const first = picture.matches(KEPT_KEYS) && picture.querySelector('button[aria-pressed="true"], button[tabindex="0"]');
  (first && first.checkVisibility({ visibilityProperty: true }) ? first : block).focus({ preventScroll: true });
  tell();
  for (const one of [...above, foot]) room.observe(one); // which calls it
}

function stop() {
  if (!shown) return;
  const { picture, block, above, focus, scroll } = shown;
  shown = null;
  room.disconnect();
  stage.hidden = true;
  delete document.body.dataset.presenting;
  delete block.dataset.presented;
  for (const one of above) delete one.dataset.stage;
  block.removeAttribute("tabindex");
  block.style.removeProperty("--bx-zoom");
  scrollTo(...scroll);
  if (focus?.isConnected) focus.focus({ preventScroll: true });
  resized(picture);
}

// Charts choose their font size by where they stand.
const resized = (picture) => picture.dispatchEvent(new Event("bx-restage"));

function keys(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || !event.isTrusted) return;
  const ends = event.key === "Escape" || isKey(event, "p");
  if (!shown) {
    if (!isKey(event, "p") || isTyping(event.target)) return;
    event.preventDefault();
    return present();
  }
  const move = event.key.startsWith("Arrow") && moveOf(event);
  const kept = shown.picture.matches(KEPT_KEYS) ? shown.picture.contains(event.target) : event.target.closest(".bx-map");
  if (!ends && (!move || kept)) return;
  event.preventDefault();
  event.stopPropagation();
  if (ends) return stop();
  step(...move);
  tell();
}

function remember({ target }) {
  if (!shown) pointed = target.closest?.(PICTURES) ?? target.closest?.(".bx-cover")?.parentElement.querySelector(PICTURES) ?? pointed;
}
document.addEventListener("keydown", keys, { capture: true });
document.addEventListener("pointerover", remember);
document.addEventListener("bert:drawn", tell);
document.addEventListener("focusin", (event) => {
  remember(event);
  tell();
});

// Print in light colours.
addEventListener("beforeprint", () => document.body.classList.replace("dark", "bx-printed"));
addEventListener("afterprint", () => document.body.classList.replace("bx-printed", "dark"));
