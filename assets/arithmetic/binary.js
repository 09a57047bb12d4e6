// Arrays as they travel: base64, and arrays of plotly.py. The resolution of a PNG, and an animated WebP out of single ones.

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

// `size` bytes, the least significant first.
const little = (number, size) => Array.from({ length: size }, (_, byte) => Math.floor(number / 256 ** byte) % 256);

function chunk(name, ...parts) {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  const made = new Uint8Array(8 + size + (size % 2));
  made.set([...name].map((letter) => letter.charCodeAt(0)));
  made.set(little(size, 4), 4);
  let at = 8;
  for (const part of parts) {
    made.set(part, at);
    at += part.length;
  }
  return made;
}

/** The chunk of a still WebP that is the picture itself, of one that is opaque. */
function pictureOf(file) {
  const view = new DataView(file.buffer, file.byteOffset);
  for (let at = 12; at < file.length; ) {
    const size = 8 + view.getUint32(at + 4, true);
    if (String.fromCharCode(...file.subarray(at, at + 3)) === "VP8" && file[at + 3] !== 88) return file.subarray(at, at + size + (size % 2)); // 88: X
    at += size + (size % 2);
  }
  throw new Error("This WebP has no picture.");
}

/** The loop (Uint8Array) of frames {file, time}: opaque stills of one size, and how long each is shown, in ms. */
export function animated(frames, width, height) {
  const area = [...little(width - 1, 3), ...little(height - 1, 3)];
  const shown = frames.map(({ file, time }) => chunk("ANMF", [0, 0, 0, 0, 0, 0, ...area, ...little(Math.round(time), 3), 2], pictureOf(file)));
  const webp = [..."WEBP"].map((letter) => letter.charCodeAt(0));
  return chunk("RIFF", webp, chunk("VP8X", [2, 0, 0, 0, ...area]), chunk("ANIM", [255, 255, 255, 255, 0, 0]), ...shown);
}
