// Pasted lists and small tables: the sentences of one class, or of several where a column has their labels.

const MOST_LABELS = 6;
const TITLES = /^(label|labels|class|category|target|sentiment|topic|y)$/i;

/** The lines of a text that hold something. */
export const linesOf = (text) => text.split(/\r\n|\r|\n/).map((line) => line.trim()).filter(Boolean);

/** The cells of a line between delimiters, without the quotes around them; doubled quotes are one. */
export function cellsOf(line, between) {
  const cells = [""];
  let quoted = false;
  for (let at = 0; at < line.length; at++) {
    const letter = line[at];
    const last = cells.length - 1;
    if (letter === '"' && quoted && line[at + 1] === '"') cells[last] += line[++at];
    else if (letter === '"' && (quoted || !cells[last])) quoted = !quoted;
    else if (letter === between && !quoted) cells.push("");
    else cells[last] += letter;
  }
  return cells.map((cell) => cell.trim());
}

/** The classes [{name, lines}] of a table of two columns, a text and a label, with one of some delimiters; null if the text is no such table. */
export function classesOf(text, delimiters) {
  for (const between of delimiters) {
    let rows = linesOf(text).map((line) => cellsOf(line, between));
    if (rows.length < 4 || !rows.every((row) => row.length === 2)) continue;
    const different = [0, 1].map((column) => new Set(rows.map((row) => row[column])).size);
    const label = different[0] < different[1] ? 0 : 1;
    if (TITLES.test(rows[0][label])) rows = rows.slice(1);
    const found = new Map();
    for (const row of rows) found.set(row[label], [...(found.get(row[label]) ?? []), row[1 - label]]);
    if (found.size < 2 || found.size > MOST_LABELS || found.has("") || 2 * found.size > rows.length) continue;
    return [...found].map(([name, lines]) => ({ name, lines: lines.filter(Boolean) }));
  }
  return null;
}
