// Arrays as they travel: base64, arrays of plotly.py, and the resolution of a PNG.

const TYPES = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, i1: Int8Array, u2: Uint16Array, i2: Int16Array, u4: Uint32Array, i4: Int32Array };

export const bytes = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** An array as plotly.py writes it (base64 with a type); a matrix becomes a list of rows. Any other value stays as it is. */
export function unpack(value) {
  if (!value?.bdata) return value;
  const flat = new TYPES[value.dtype](bytes(value.bdata).buffer);
  const [rows, columns] = String(value.shape ?? "").split(",").map(Number);
  return columns === undefined ? flat : Array.from({ length: rows }, (_, row) => flat.subarray(row * columns, (row + 1) * columns));
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** The checksum of PNG and zlib (CRC-32). */
export const crc = (data) => ~data.reduce((sum, byte) => TABLE[(sum ^ byte) & 255] ^ (sum >>> 8), -1) >>> 0;

/** A PNG (Uint8Array) with its resolution in dots per inch, in a chunk (pHYs) after the header. */
export function withDensity(png, dpi) {
  const chunk = new DataView(new ArrayBuffer(21));
  const perMetre = Math.round(dpi / 0.0254);
  chunk.setUint32(0, 9);
  [..."pHYs"].forEach((letter, i) => chunk.setUint8(4 + i, letter.charCodeAt(0)));
  chunk.setUint32(8, perMetre);
  chunk.setUint32(12, perMetre);
  chunk.setUint8(16, 1);
  chunk.setUint32(17, crc(new Uint8Array(chunk.buffer, 4, 13)));
  return Uint8Array.from([...png.subarray(0, 33), ...new Uint8Array(chunk.buffer), ...png.subarray(33)]);
}
