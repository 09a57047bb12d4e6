// Numbers as pixels on a canvas.
import { background, css, rgb } from "./theme.js";

/** Paint every pixel of a canvas; `colourOf(x, y)` is red, green, blue and, unless it is 255, alpha. */
export function paintPixels(canvas, width, height, colourOf) {
  Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(width, height);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      const [red, green, blue, alpha = 255] = colourOf(x, y);
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      image.data[at + 3] = alpha;
    }
  }
  pen.putImageData(image, 0, 0);
}

/** Draw a vector as a strip with a small rectangle for each number, blue above 0, orange below; from `top` on they have the full colour. */
export function paintVector(canvas, vector, top) {
  const [plus, minus] = ["positive", "negative"].map((sign) => rgb(css(`--bx-${sign}`)));
  const start = background();
  paintPixels(canvas, vector.length, 1, (x) => {
    const share = Math.min(1, Math.abs(vector[x]) / top);
    const end = vector[x] < 0 ? minus : plus;
    return start.map((from, k) => Math.round(from + (end[k] - from) * share));
  });
}
