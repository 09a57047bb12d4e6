// A vector as a strip on a canvas.
import { background, css, rgb } from "./theme.js";

/**
 * Draw a small rectangle for each number: blue above 0, orange below.
 * @param {HTMLCanvasElement} canvas one pixel high, and as wide as the vector is long
 * @param {number} top what has the full colour, and all that is larger
 */
export function paintVector(canvas, vector, top) {
  const [plus, minus] = ["positive", "negative"].map((sign) => rgb(css(`--bx-${sign}`)));
  const start = background();
  const context = canvas.getContext("2d");
  const image = context.createImageData(vector.length, 1);
  vector.forEach((number, i) => {
    const share = Math.min(1, Math.abs(number) / top);
    const end = number < 0 ? minus : plus;
    const colour = start.map((from, k) => Math.round(from + (end[k] - from) * share));
    image.data.set([...colour, 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
}
