// Light and dark: the page's colours, and the ramp that begins at its background.
import { inCss, rampFrom } from "../arithmetic/colour.js";

const listeners = new Set();
let wasDark = null;
let onPaper = 0; // number of pictures being drawn for export, which are light in any theme

export const isDark = () => !onPaper && document.body.classList.contains("dark");

/** Dress a page of ours beside the app as the system, at every moment, or as `wished`. */
export function followSystem(wished = "") {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dress = () => document.body.classList.toggle("dark", wished ? wished === "dark" : system.matches);
  system.addEventListener("change", dress);
  dress();
}

/** Draw as on white paper until the promise of `draw` is settled. */
export async function paper(draw) {
  onPaper += 1;
  try {
    return await draw();
  } finally {
    onPaper -= 1;
  }
}

/** Call the listeners {fn, owner} whose owner is on the page, and forget the others. */
export function callAll(listeners) {
  for (const listener of listeners) {
    if (listener.owner.isConnected) listener.fn();
    else listeners.delete(listener);
  }
}

/** Call fn after each switch between light and dark, as long as `owner` is on the page. */
export function onTheme(fn, owner) {
  if (wasDark === null) {
    wasDark = isDark();
    new MutationObserver(() => {
      if (isDark() === wasDark) return;
      wasDark = isDark();
      callAll(listeners);
    }).observe(document.body, { attributeFilter: ["class"] });
  }
  listeners.add({ fn, owner });
}

/** The value of a custom property of the page's style. */
export function css(name) {
  return getComputedStyle(onPaper ? document.documentElement : document.body).getPropertyValue(name).trim(); // the root element is always light
}

const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

/** Any CSS colour as [red, green, blue, alpha], each 0 to 255. */
export function rgb(colour) {
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = colour;
  pixel.fillRect(0, 0, 1, 1);
  return [...pixel.getImageData(0, 0, 1, 1).data];
}

/** The page's background as [red, green, blue]. */
export const background = () => (onPaper ? [255, 255, 255] : rgb(css("--body-background-fill")).slice(0, 3));

let table = [];
let tableKey = "";

/** The ramp as 256 colours [r, g, b]; the first is the page's background. */
export function rampTable() {
  const start = background();
  const key = `${isDark()} ${start}`;
  if (key !== tableKey) table = rampFrom(start, isDark());
  tableKey = key;
  return table;
}

/** The ramp's colour for a share from 0 to 1; what is outside gets the nearest end. */
export const ramp = (share) => rampTable()[Math.round(255 * Math.min(1, Math.max(0, share)))];

/** The ramp as a Plotly colorscale of 33 stops. */
export const rampStops = () => Array.from({ length: 33 }, (_, i) => [i / 32, inCss(ramp(i / 32))]);

// ---- Numbers as pixels on a canvas.

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
