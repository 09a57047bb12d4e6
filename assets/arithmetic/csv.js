// @ts-check
// Tables as CSV (RFC 4180), safe to open in a spreadsheet.

/**
 * A cell: quoted where needed; a text that a spreadsheet would run as a formula gets an apostrophe.
 * @param {unknown} value
 */
export function cell(value) {
  const text = typeof value === "string" && /^[=+\-@\t]/.test(value) ? `'${value}` : String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The text of a file; lines end with CR LF.
 * @param {unknown[]} headers
 * @param {unknown[][]} rows
 */
export function csv(headers, rows) {
  return [headers, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
