// Colours as numbers, red, green and blue from 0 to 255: the ramp through OKLab (Björn Ottosson, 2020), in which equal distances look about equally large.

/** Where the ramp of a theme goes from the background of the page, in even steps: through blue, to an end. */
const ENDS = {
  light: ["oklab(0.876 -0.021 -0.066)", "oklab(0.743 -0.034 -0.112)", "oklab(0.603 -0.039 -0.134)", "oklab(0.462 -0.035 -0.131)",
    "oklab(0.323 -0.022 -0.105)", "oklab(0.19 -0.002 -0.06)"],
  dark: ["oklab(0.296 -0.015 -0.08)", "oklab(0.431 -0.025 -0.118)", "oklab(0.57 -0.031 -0.132)", "oklab(0.71 -0.032 -0.118)",
    "oklab(0.844 -0.028 -0.078)", "oklab(0.97 -0.019 -0.016)"],
};

/** Whether black text has more contrast on a colour than white text (WCAG 2, relative luminance). */
export function isBright(colour) {
  const [r, g, b] = colour.map((channel) => (channel <= 10 ? channel / 3294.6 : ((channel / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179;
}

/** 256 colours from a background, which is the first, evenly spaced; they end light for a dark page. */
export function rampFrom(background, dark) {
  const stops = [inCss(background), ...(dark ? ENDS.dark : ENDS.light)];
  const pen = Object.assign(document.createElement("canvas"), { width: 256, height: 1 }).getContext("2d");
  for (let step = 0; step < 256; step++) {
    const place = (step / 255) * (stops.length - 1);
    const from = Math.min(Math.floor(place), stops.length - 2);
    pen.fillStyle = `color-mix(in oklab, ${stops[from]}, ${stops[from + 1]} ${100 * (place - from)}%)`;
    pen.fillRect(step, 0, 1, 1);
  }
  const { data } = pen.getImageData(0, 0, 256, 1);
  return Array.from({ length: 256 }, (_, step) => [...data.subarray(4 * step, 4 * step + 3)]);
}

/** A colour in CSS. */
export const inCss = (colour) => `rgb(${Array.from(colour).join(",")})`;
