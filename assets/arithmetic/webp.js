// An animated WebP out of single ones, as in its container specification (RIFF): VP8X, ANIM, and an ANMF for each frame.

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
