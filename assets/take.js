// The dialog of links and files: the link, its QR code, and a file for each export format.
import { filmOf } from "./components/film.js";
import { scenesSeen } from "./components/flow/events.js";
import { pictures } from "./components/picture.js";
import { linkState, ownQuery } from "./link.js";
import { told } from "./page/told.js";
import { button, el, openDialog, saveFile } from "./shared/dom.js";

const FORMATS = { svg: "SVG", svg85: "SVG 85 mm", png: "PNG", csv: "CSV" }; // of a picture; 85 mm is one column of a journal
const NO_LINK = "This is too long for a link. Shorten the texts or the settings.";

/** The server's address of a file of what a link shows, by the link's query. */
export const file = (name, query) => `bx/take/${name}?${query}`;

/** Open the dialog. */
export function show() {
  const query = linkState.query ?? location.search.slice(1);
  const address = `${location.origin}${location.pathname}?${query}`;
  const said = el("p", { id: "take-said", role: "status" });
  const box = el("input", { id: "take-link", type: "text", readonly: "", value: address });
  const copyLink = button("Copy", () => copyFrom(box, said), { class: "bx-take-button" });
  const close = button("Close", () => dialog.close(), { class: "bx-take-button" });
  const files = el("div", { id: "take-files" });
  const line = el("div", { class: "bx-take-link" }, el("label", { for: "take-link" }, "Link"), box, copyLink);
  const link = query ? [line, said, el("div", { class: "bx-take-ways" }, codeOf(address, query), files)] : [el("p", {}, NO_LINK)];
  const dialog = el("dialog", { id: "take", "aria-labelledby": "take-title" }, el("h2", { id: "take-title" }, "Take this view away"), ...link, close);
  openDialog(dialog);
  (query ? copyLink : close).focus();
  if (!query) return;
  copyFrom(box, said);
  listFiles(ownQuery(), files, said);
}

/** Copy the link in a box, or mark it if the browser does not give us the clipboard; `said` reports the outcome. */
export const copyFrom = (box, said) => copy(box.value, () => box.select(), "The link", said);

async function copy(text, mark, what, said) {
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = `${what} is on the clipboard.`;
  } catch {
    mark();
    said.textContent = `${what} is marked. Copy it from there.`;
  }
}

// The QR code, which a click enlarges to the screen; or why there is none.
function codeOf(address, query) {
  if (address.length > told.longest) return el("p", { class: "bx-take-code" }, "The link is too long for a QR code.");
  const image = el("img", { src: file("link.svg", query), alt: "QR code of the link", width: 180, height: 180 });
  const enlarge = () => (code.ariaPressed = String(code.ariaPressed === "false"));
  const code = button(image, enlarge, { "aria-pressed": "false", title: "As large as the screen, and back" });
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const note = local ? el("p", {}, "It leads to this machine only: the page is open as ", el("b", {}, location.hostname), ".") : null;
  return el("div", { class: "bx-take-code" }, code, note);
}

// The files of this view, its pictures on the screen, and the Python.
function listFiles(query, files, said) {
  const items = Object.entries(told.files).map(([key, label]) => {
    const link = el("a", { href: file(`view.${key}`, query), download: "" }, label, " ", el("small", {}, `.${key}`));
    link.addEventListener("click", (event) => {
      event.preventDefault();
      save(link.href, said);
    });
    return el("li", {}, link);
  });
  files.append(el("h3", {}, "Files"), el("ul", {}, ...items));
  const seen = pictures().map((one) => el("li", {}, one.label, ...Object.keys(FORMATS).map((format) => savingButton(one, format, query, said))));
  const scenes = scenesSeen();
  if (scenes.length) files.append(el("h3", {}, "Loop"), el("ul", {}, el("li", {}, loopButton(scenes, said))));
  if (seen.length) files.append(el("h3", {}, "Pictures"), el("ul", { id: "take-pictures" }, ...seen));
  files.append(pythonOf(query, said));
}

// The view's Python: fetched when opened, to read and copy.
function pythonOf(query, said) {
  const code = el("code");
  const take = button("Copy the Python", () => copy(code.textContent, () => getSelection().selectAllChildren(code), "The Python", said),
    { class: "bx-take-button", hidden: "" });
  const folded = el("details", { id: "take-python" }, el("summary", {}, "The Python that makes it"), el("pre", { tabindex: 0 }, code), take);
  folded.addEventListener("toggle", async () => {
    if (!folded.open || code.textContent) return;
    code.textContent = "…";
    const answer = await fetched(file("view.py", query)).catch((error) => error);
    take.hidden = answer instanceof Error;
    code.textContent = answer instanceof Error ? answer.message : await answer.text();
  });
  return folded;
}

// A button that saves a picture which is on the screen, or its numbers.
function savingButton({ label, part, save: draw }, format, query, said) {
  if (format === "csv" && !part) return null;
  const make = async () => {
    said.textContent = "The picture is being made…";
    await draw(format);
    said.textContent = "The picture is made.";
  };
  const numbers = () => save(`${file("view.csv", query)}&part=${part}`, said);
  return button(FORMATS[format], format === "csv" ? numbers : make, { class: "bx-take-format", "aria-label": `${label} as ${FORMATS[format]}` });
}

// A button that makes a loop of what was just done, and saves it.
function loopButton(scenes, said) {
  const make = async () => {
    made.disabled = true;
    try {
      const film = await filmOf(scenes, (percent) => (said.textContent = `The loop is being made: ${percent}%`));
      saveFile(film, `bert-explorer-loop.${film.type.split("/")[1]}`);
      said.textContent = `The loop is made: ${(film.size / 1e6).toFixed(1)} MB.`;
    } catch (error) {
      said.textContent = error.message;
    }
    made.disabled = false;
  };
  const made = button(el("span", {}, "What you just did in the picture ", el("small", {}, ".webp")), make, { class: "bx-take-format" });
  return made;
}

// Throws an error whose message is a sentence to show.
async function fetched(href) {
  const answer = await fetch(href).catch(() => Promise.reject(new Error("The app does not answer. Try again in a moment.")));
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer;
}

// Save a file of the server: fetched, not followed, so that `said` shows a refusal instead of its being saved.
async function save(href, said) {
  said.textContent = "The file is being made…";
  try {
    const answer = await fetched(href);
    const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition"))?.[1] ?? "view";
    saveFile(await answer.blob(), name);
    said.textContent = `${name} is made.`;
  } catch (error) {
    said.textContent = error.message;
  }
}
