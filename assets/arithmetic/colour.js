// @ts-check
// Colours as numbers: the ramp through OKLab (Björn Ottosson, 2020), in which equal distances look about equally large.

/** @typedef {number[]} Colour red, green and blue from 0 to 255 */
/** @typedef {number[]} Lab lightness 0 to 1, and the two colour axes of OKLab */

const polar = (/** @type {number} */ L, /** @type {number} */ chroma, /** @type {number} */ hue) =>
  [L, chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];

/** Where the ramp of a theme goes: `middle` pulls the curve towards blue, and it ends at `end`. */
export const ENDS = {
  light: { middle: polar(0.62, 0.25, 252), end: polar(0.19, 0.06, 268) },
  dark: { middle: polar(0.58, 0.25, 258), end: polar(0.97, 0.025, 220) },
};

/**
 * A channel of sRGB as the amount of light.
 * @param {number} channel 0 to 255
 * @returns {number} 0 to 1
 */
export function toLinear(channel) {
  const v = channel / 255;
  return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
}

/**
 * Whether black text has more contrast on a colour than white text (WCAG 2, relative luminance).
 * @param {Colour} colour
 */
export function isBright([r, g, b]) {
  return 0.2126 * toLinear(r) + 0.7152 * toLinear(g) + 0.0722 * toLinear(b) > 0.179;
}

/**
 * @param {Colour} colour
 * @returns {Lab}
 */
export function toLab(colour) {
  const [r, g, b] = colour.map(toLinear);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/**
 * The nearest colour that a screen can show.
 * @param {Lab} lab
 * @returns {Colour}
 */
export function fromLab([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const gamma = (/** @type {number} */ v) => (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055);
  return linear.map((v) => Math.round(255 * Math.min(1, Math.max(0, gamma(Math.max(0, v))))));
}

/**
 * 256 colours from a background along a curve through OKLab, evenly spaced by its length.
 * @param {Colour} background the first of them
 * @param {boolean} dark whether it ends light, as on a dark page
 * @returns {Colour[]}
 */
export function rampFrom(background, dark) {
  const steps = 1024;
  const start = toLab(background);
  const { middle, end } = dark ? ENDS.dark : ENDS.light;
  const curve = Array.from({ length: steps + 1 }, (_, i) => {
    const t = i / steps;
    return start.map((v, k) => (1 - t) ** 2 * v + 2 * t * (1 - t) * middle[k] + t ** 2 * end[k]);
  });
  const lengths = [0];
  for (let i = 1; i <= steps; i++) lengths.push(lengths[i - 1] + Math.hypot(...curve[i].map((v, k) => v - curve[i - 1][k])));
  let i = 0;
  return Array.from({ length: 256 }, (_, step) => {
    const target = (lengths[steps] * step) / 255;
    while (i < steps && lengths[i] < target) i++;
    return step ? fromLab(curve[i]) : background;
  });
}

/**
 * A colour of a table of 256 for a share from 0 to 1; what is outside gets the nearest end.
 * @param {Colour[]} table
 * @param {number} share
 */
export function colourAt(table, share) {
  return table[Math.round(255 * Math.min(1, Math.max(0, share)))];
}

/**
 * A table of 256 colours as a Plotly colorscale of 33 stops.
 * @param {Colour[]} table
 * @returns {[number, string][]}
 */
export function stopsOf(table) {
  return Array.from({ length: 33 }, (_, i) => [i / 32, inCss(colourAt(table, i / 32))]);
}

/**
 * A colour in CSS.
 * @param {ArrayLike<number>} colour
 */
export function inCss(colour) {
  return `rgb(${Array.from(colour).join(",")})`;
}
