// The page while Gradio is still loading: drawn from the configuration that the page is sent, with the boxes, classes and
// components that the real page will have in the same places. What is typed here, and the tab and the token that are chosen,
// are passed to the real page when it is there.
import { prose } from "./file/prose.js";
import { drawingState, pulses } from "./page/drawing.js";
import { told } from "./page/told.js";
import { busyState, typingState } from "./page/typing.js";
import { el } from "./shared/dom.js";

const PATIENCE = 60_000; // ms after which the page is shown as it is
const MOUNTING = 2_000; // ms after the last answer in which all of it should be drawn
const STILL = 150; // ms without a change of its height
const BOXES = ["row", "column", "form"]; // Gradio's containers
const UNSEEN = ["state", "browserstate"];

const query = new URLSearchParams(location.search);
let parts = new Map(); // by id of the configuration
let place = {}; // what to show: the first example, or a link's tab and texts, and its view if the server had it; see explorer/server/ahead.py
let home = null; // the layout of the first tab
let first = null;
let quietSince = 0; // when the last call was answered, 0 while one is under way
let still = { height: 0, since: 0 }; // the height of the page, and since when
let opened = null; // the tab that the page opens with
let chosen = { tab: null, token: null }; // tab: an id

/** Draw it, at the end of the page's body. */
export function paintFirst() {
  try {
    paint();
  } catch (error) { // the page itself does without
    first?.remove();
    console.error(error);
  }
}

function paint() {
  const { components = [], layout } = window.gradio_config ?? {};
  parts = new Map(components.map((one) => [one.id, one]));
  const named = new Map(components.map((one) => [one.props.elem_id, one.props]));
  if (!named.has("text-a")) return; // a login
  goTo(JSON.parse(document.querySelector("#bx-place").textContent));
  // Gradio gets these too: what one types then is about these texts.
  for (const [name, props] of Object.entries(place.elements ?? {})) Object.assign(named.get(name), props);
  if (query.get("view") === "api") return;
  const theme = query.get("__theme");
  if (theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches) document.body.classList.add("dark");
  chosen = { tab: place.tab ?? components.find((one) => one.type === "tabitem").props.id, token: null };
  const page = el("div", { class: "column" });
  first = el("div", { id: "first" }, el("style", {}, sharedStyle()), el("div", { class: "gradio-container" }, el("div", { class: "main fillable" }, page)));
  first.classList.toggle("bx-waits", !named.get("strip").value && !place.is_view); // for a place that the server computes
  document.body.append(first);
  fill(page, layout.children);
  open(chosen.tab);
  measure();
  first.addEventListener("click", click, true); // before a component's own listener, which may redraw what was clicked
  leaveWhenReady();
}

function goTo(there) {
  place = there;
  for (const one of place.components ?? []) parts.set(one.id, one);
  for (const [number, props] of Object.entries(place.props ?? {})) {
    const one = parts.get(Number(number));
    if (one) parts.set(one.id, { ...one, props: { ...one.props, ...props } });
  }
}

// The rules for elements' ids, here and in the style that Gradio adds later, for the elements of this page. A selector of `:is(#one,
// [data-of=one])` would hold for both, but a browser tries it on every element of the page whenever one changes.
function sharedStyle() {
  const later = new CSSStyleSheet();
  later.replaceSync(window.gradio_config.css ?? "");
  return [...ofIds(document.querySelector("#bx-style").sheet), ...ofIds(later, true)].join("\n");
}

function* ofIds({ cssRules }, all = false) {
  for (const rule of cssRules) {
    const selector = rule.selectorText?.replace(/#(?!first)([a-z][\w-]*)/g, ":where([data-of=$1]):not(#_)"); // as strong as an id
    if (rule.conditionText !== undefined) yield `${rule.cssText.slice(0, rule.cssText.indexOf("{"))}{${[...ofIds(rule, all)].join("\n")}}`;
    else if (selector && (all || selector !== rule.selectorText)) yield `${selector}{${rule.style.cssText}}`;
  }
}

function fill(into, places) {
  for (const { id, children = [] } of places) {
    const { type, props } = parts.get(id) ?? { type: "state" }; // a state is not sent with a link's view
    if (UNSEEN.includes(type) || (props.visible ?? true) !== true || props.elem_classes?.includes("bx-pulse")) continue;
    if (type === "tabs") return fillTabs(into, props.elem_id, children);
    const box = el(type === "radio" ? "fieldset" : "div", { class: BOXES.includes(type) ? type : "block", "data-of": props.elem_id });
    const one = type === "button" ? button(props) : box;
    one.classList.add(...(props.elem_classes ?? []).flatMap((name) => name.split(" ")));
    if (props.scale != null && !into.matches(".column")) one.style.flexGrow = props.scale;
    if (props.min_width != null) one.style.minWidth = `min(${props.min_width}px, 100%)`;
    into.append(one); // before drawing: pictures measure their width
    if (BOXES.includes(type)) fill(one, children);
    else if (type in CONTENTS) one.append(...CONTENTS[type](props));
    else if (type === "html") drawIn(one, props);
    if (type === "form" && !one.firstChild) one.remove();
  }
}

// ---- Components. What a person typed is inserted as text only.

const label = (text) => el("span", { "data-testid": "block-info" }, text);

const pairs = (choices) => choices.map((one) => (Array.isArray(one) ? one : [one, one])); // of names and values

// A tab's heading has a question for each choice, of which the style sheet shows one.
const inSpans = (text) => (text.startsWith("<span>") ? text.split(/<\/?span>/).filter(Boolean).map((one) => el("span", {}, one)) : [text]);

const CONTENTS = {
  markdown: ({ value }) => {
    const heading = /^(#+)\s+([^\n]*)$/.exec(value.trim());
    return [el("div", { class: "prose" }, ...(heading ? [el(`h${heading[1].length}`, {}, ...inSpans(heading[2]))] : prose(value)))];
  },
  textbox: (props) => {
    const box = el("textarea", { rows: props.lines, placeholder: props.placeholder, "aria-label": props.label, spellcheck: "false" });
    box.defaultValue = props.value ?? "";
    return [el("label", { class: "container" }, label(props.label), el("div", { class: "input-container" }, box))];
  },
  dropdown: (props) => {
    const shown = pairs(props.choices).find(([, value]) => value === props.value)?.[0] ?? props.value;
    const box = el("input", { role: "combobox", "aria-label": props.label, "aria-expanded": "false", "aria-controls": "first", readonly: "", value: shown, placeholder: "your own text" });
    return [el("div", { class: "container" }, label(props.label), el("div", { class: "wrap" }, box))];
  },
  slider: ({ label: name, minimum, maximum, value }) => [
    el("div", { class: "slider" }, label(name), el("input", { type: "range", "aria-label": name, min: minimum, max: maximum, value, disabled: "" }))],
  radio: (props) => [el("div", { class: "wrap" }, ...pairs(props.choices).map(([name, value]) =>
    el("label", {}, el("input", { type: "radio", name: props.elem_id, disabled: "", checked: value === props.value ? "" : null }), el("span", {}, name))))],
};

const button = ({ value, size, elem_id: id }) => el("button", { type: "button", class: size, "data-of": id }, value);

function drawIn(block, props) {
  const element = el("div", { class: (props.elem_classes ?? []).join(" ") });
  element.innerHTML = props.html_template; // a constant of ours: values are drawn into it as text
  block.append(el("div", { class: "html-container" }, element));
  new Function("element", "trigger", "props", "watch", props.js_on_load)(element, () => {}, { value: props.value }, () => {});
}

// ---- The tabs, and the content of the first.

function fillTabs(into, id, items) {
  const tabs = items.map((one) => parts.get(one.id).props).filter((one) => one.visible);
  const names = tabs.map((one) => el("button", { type: "button", role: "tab", "data-tab": one.id, "data-of": `tab-${one.id}-button` }, one.label));
  const row = el("div", { class: "tab-wrapper" }, el("div", { class: "tab-container", role: "tablist" }, ...names));
  const panel = el("div", { class: "bx-first-panel", role: "tabpanel" }, el("div", { class: "column" }));
  into.append(el("div", { "data-of": id }, row, panel, el("h2", { class: "bx-first-elsewhere" })));
  home = items[0];
  fill(panel.firstChild, (place.layout ?? home).children ?? []);
}

const sections = () => [...parts.values()].find((one) => one.props.elem_id === "sections").props.value.sections;

// Show which tab will be open; one that was not sent shows its question.
function open(tab) {
  opened ??= tab;
  chosen.tab = tab;
  const section = sections().findIndex((one) => one.tabs.includes(tab));
  document.body.dataset.section = section;
  first.querySelectorAll("[data-of=sections] [role=tab]").forEach((one, i) => (one.ariaSelected = String(i === section)));
  const names = [...first.querySelectorAll("[data-tab]")];
  for (const one of names) {
    one.ariaSelected = String(one.dataset.tab === tab);
    one.classList.toggle("selected", one.dataset.tab === tab);
  }
  const there = tab === opened && !first.matches(".bx-waits");
  first.querySelector(".bx-first-panel").hidden = !there;
  const choices = told.questions[tab];
  const asked = choices[tab === place.tab && place.view] ?? Object.values(choices)[0];
  first.querySelector(".bx-first-elsewhere").textContent = there ? "" : asked;
}

// A tab that was not sent comes as a link to it would.
async function fetchTab(tab) {
  const kept = [...query].filter(([name]) => name !== "view" && !name.startsWith("set."));
  const there = `?${new URLSearchParams({ ...Object.fromEntries(kept), tab })}`;
  const found = await fetch(there, { headers: { accept: "application/json" } }).then((answer) => answer.json()).catch(() => ({}));
  if (chosen.tab !== tab || !found.is_view || !first.isConnected) return;
  goTo(found);
  opened = tab;
  open(tab);
  const panel = first.querySelector(".bx-first-panel > .column");
  panel.replaceChildren();
  fill(panel, (found.layout ?? home).children);
}

// The page's style sheet reckons with these, which the page measures when it is there.
function measure() {
  const { style } = document.documentElement;
  style.setProperty("--bx-bar", `${first.querySelector("[data-of=bar]").offsetHeight}px`);
  style.setProperty("--bx-sections", `${first.querySelector(".bx-sections").offsetWidth}px`);
}

function click({ target }) {
  const pressed = target.closest("button");
  if (!pressed) return;
  const section = pressed.closest("[data-of=sections]");
  const tab = section ? sections()[[...section.querySelectorAll("[role=tab]")].indexOf(pressed)].tabs[0] : pressed.dataset.tab;
  if (pressed.matches("[data-of=strip] .bx-token")) chosen.token = pressed.dataset.token;
  else if (tab && tab !== chosen.tab) {
    open(tab);
    if (tab !== opened && !changedBoxes().length) fetchTab(tab);
  }
}

// ---- The real page is there.

function leaveWhenReady() {
  const until = performance.now() + PATIENCE;
  let tab = opened; // of the page below
  const look = () => {
    if (document.documentElement.dataset.coming === "complete" && chosen.tab !== tab && pulses.has("")) {
      tab = chosen.tab;
      document.querySelector(`gradio-app #tab-${tab}-button`)?.click();
    }
    if (!isReady(tab) && performance.now() < until) return requestAnimationFrame(look);
    handOver();
    first.remove();
  };
  requestAnimationFrame(look);
}

// Whether all that is drawn here is drawn there, and what a link or a lesson leads to as well; or an error says why it never will.
function isReady(tab) {
  if (document.querySelector("gradio-app :is(.toast-wrap .error, .wrap .error, #notice .bx-error)")) return true;
  if (document.documentElement.dataset.coming !== "complete" || document.body.dataset.arriving || chosen.tab !== tab) return false;
  const works = typingState.arriving || drawingState.drawing || busyState.working;
  quietSince = works ? 0 : quietSince || performance.now();
  if (quietSince && performance.now() - quietSince > MOUNTING) return true;
  const panel = first.querySelector(".bx-first-panel:not([hidden])");
  const same = panel && document.querySelector(`gradio-app #tab-${tab}-button[aria-selected=true]`);
  if (!same) return !works && Boolean(document.querySelector(`gradio-app .of-${tab} .bx:not(:empty)`)) && isStill();
  const drawn = panel.querySelectorAll("[data-of]:has(.bx:not(:empty))");
  return ["strip", ...[...drawn].map((one) => one.dataset.of)].every((id) =>
    document.querySelector(`gradio-app #${id}:has(.bx:not(:empty))`)) && (!place.tab || isStill());
}

// Whether what Gradio mounts has stopped growing.
function isStill() {
  const height = document.querySelector("gradio-app").offsetHeight;
  if (height !== still.height) still = { height, since: performance.now() };
  return performance.now() - still.since > STILL;
}

// The boxes in which something was typed.
const changedBoxes = () => [...first.querySelectorAll(".input-container textarea")].filter((one) => one.value !== one.defaultValue);

const ownBox = (box) => document.querySelector(`gradio-app #${box.closest("[data-of]").dataset.of} textarea`);

function handOver() {
  delete document.documentElement.dataset.coming; // hidden elements cannot take the focus
  const focused = document.activeElement;
  const changed = changedBoxes();
  const last = focused.matches("#first textarea") ? focused : changed[0];
  const box = last && ownBox(last);
  box?.focus(); // text set in an unfocused box does not count as typed
  for (const one of changed) {
    const own = ownBox(one);
    own.value = one.value;
    own.dispatchEvent(new Event("input", { bubbles: true }));
  }
  box?.setSelectionRange(last.selectionStart, last.selectionEnd);
  if (chosen.token !== null && !changed.length) document.querySelector(`gradio-app #strip [data-token="${chosen.token}"]`)?.click();
  if (!changed.length && focused.closest("#first [role=tab]")) { // otherwise the text is still to be read from its box
    const number = 1 + Number(document.body.dataset.section);
    const tabs = document.querySelectorAll(`gradio-app :is(#sections [role=tab]:nth-child(${number}), #tab-${chosen.tab}-button)`);
    [...tabs].findLast((one) => one.checkVisibility())?.focus({ preventScroll: true });
  }
}
