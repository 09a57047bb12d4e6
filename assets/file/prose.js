// The little Markdown that our own captions use, as DOM nodes: paragraphs, tables, bold, code, links.
import { el } from "../shared/dom.js";

const MARKS = /\*\*(.+?)\*\*|`([^`]+)`|\[([^\]]+)\]\((https?:[^)\s]+)\)|\*([^*\s][^*]*)\*/g;

function inline(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(MARKS)) {
    const [whole, bold, code, label, address, slanted] = found;
    nodes.push(text.slice(from, found.index));
    if (bold) nodes.push(el("b", {}, ...inline(bold)));
    else if (code) nodes.push(el("code", {}, code));
    else if (label) nodes.push(el("a", { href: address, rel: "noreferrer", target: "_blank" }, label));
    else nodes.push(el("em", {}, slanted));
    from = found.index + whole.length;
  }
  return [...nodes, text.slice(from)];
}

function table(lines) {
  const cells = (line) => line.replace(/^\||\|$/g, "").split("|").map((cell) => inline(cell.trim()));
  const [head, , ...rows] = lines;
  const row = (tag) => (line) => el("tr", {}, ...cells(line).map((cell) => el(tag, {}, ...cell)));
  return el("table", { class: "bx-frame-table" }, el("thead", {}, row("th")(head)), el("tbody", {}, ...rows.map(row("td"))));
}

function block(text) {
  const lines = text.split("\n");
  if (lines[0].startsWith("|")) return table(lines);
  const heading = text.match(/^#+\s+(.*)/);
  if (heading) return el("h2", {}, ...inline(heading[1]));
  if (lines.every((line) => line.startsWith("- "))) return el("ul", {}, ...lines.map((line) => el("li", {}, ...inline(line.slice(2)))));
  return el("p", {}, ...inline(lines.join(" ")));
}

/** The nodes of a text. */
export const prose = (text) => text.trim().split(/\n{2,}/).filter(Boolean).map(block);
