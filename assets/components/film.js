// A loop of what was just done in the Overview: its scenes, drawn again beside the page on white paper, as an animated WebP. A
// browser that writes no WebP (Safari) records a video.
import { animated } from "../arithmetic/webp.js";
import { el } from "../shared/dom.js";
import { mount } from "../shared/mounting.js";
import { imageOf, svgFrom } from "./paper.js";

const WIDTH = 1120; // px
const STEP = 80; // ms from frame to frame
const COLUMN = 120; // ms from one column to the next when it opens
const GLIDE = 200; // ms of a glide after which a column is taken
const HOLD = { opened: 900, snapped: 250, scene: 1100, last: 2000 }; // ms
const LONGEST = 8000; // ms
const LARGEST = 2e6; // bytes
const TRIES = [[1, 0.85], [1, 0.6], [0.75, 0.6], [0.5, 0.5]]; // scale and quality, until the loop is small enough
const NONE = "This browser can make neither a WebP nor a video. Open the page in Chrome or Firefox.";

const wait = (time) => new Promise((resolve) => setTimeout(resolve, time));

// The scenes as frames: the text of an SVG, and how long it is shown.
async function framesOf(scenes, onStep) {
  const [said, root] = [el("p", { class: "bx-film-said" }), el("div", { class: "bx bx-flow" })];
  const page = el("div", { class: "bx bx-film", style: `width:${WIDTH}px` }, said, root, el("p", { class: "bx-film-by" }, "BERT Explorer"));
  const sheet = el("div", { class: "bx-paper", "aria-hidden": "true", inert: "" }, page);
  const [props, frames] = [{ value: null }, []];
  let draw = null;
  const take = (time) => {
    const drawn = new XMLSerializer().serializeToString(svgFrom(page, { title: said.textContent, about: "" }));
    if (frames.at(-1)?.drawn === drawn) frames.at(-1).time += time;
    else frames.push({ drawn, time });
  };
  const show = (value, text) => {
    props.value = value;
    said.textContent = text;
    draw();
  };
  // All that glides is halted, and taken at some moments (ms) of it.
  async function play(momentsUntil, time) {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const moving = page.getAnimations({ subtree: true });
    const end = Math.max(0, ...moving.map(({ effect }) => effect.getComputedTiming().endTime));
    for (const one of moving) one.pause();
    for (const moment of momentsUntil(end)) {
      for (const one of moving) one.currentTime = moment;
      take(time);
      await onStep();
    }
    for (const one of moving) one.finish();
  }
  const each = (end) => Array.from({ length: Math.ceil(end / STEP) - 1 }, (_, n) => (n + 1) * STEP);
  document.documentElement.append(sheet); // not in the body, which may be dark
  try {
    mount("Flow", sheet, () => {}, props, (_, again) => (draw = again), {});
    let height = 0;
    for (const { value, said: text } of scenes) {
      show(value, text);
      height = Math.max(height, page.offsetHeight);
    }
    page.style.height = `${height}px`;
    const [{ value: first, said: text }] = scenes;
    show(null, "");
    for (let shown = 0; shown < first.states; shown++) {
      show({ ...first, shown }, text);
      await play(() => [GLIDE], COLUMN);
    }
    for (const [n, { value, said: words }] of scenes.entries()) {
      if (n) show(value, words);
      if (n) await play(each, STEP);
      take(n === scenes.length - 1 ? HOLD.last : value.snapped ? HOLD.snapped : n ? HOLD.scene : HOLD.opened);
    }
  } finally {
    sheet.remove();
  }
  const faster = Math.min(1, LONGEST / frames.reduce((sum, { time }) => sum + time, 0));
  return frames.map(({ drawn, time }) => ({ drawn, time: Math.floor(time * faster) }));
}

async function webpOf(images, frames, canvas, draw) {
  for (const [scale, quality] of TRIES) {
    const files = [];
    for (const [n, image] of images.entries()) {
      draw(image, scale);
      const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/webp", quality));
      if (blob?.type !== "image/webp") return null;
      files.push({ file: new Uint8Array(await blob.arrayBuffer()), time: frames[n].time });
    }
    const made = animated(files, canvas.width, canvas.height);
    if (made.length <= LARGEST || scale === TRIES.at(-1)[0]) return new Blob([made], { type: "image/webp" });
  }
}

// In the time that it lasts: nothing but the screen's own clock moves a recorder.
async function videoOf(images, frames, canvas, draw) {
  const type = ["video/mp4", "video/webm"].find((one) => window.MediaRecorder?.isTypeSupported(one));
  if (!type || !canvas.captureStream) throw new Error(NONE);
  draw(images[0], 1);
  const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: type, videoBitsPerSecond: (7 * LARGEST) / (LONGEST / 1000) });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const over = new Promise((resolve) => (recorder.onstop = resolve));
  recorder.start();
  for (const [n, image] of images.entries()) {
    draw(image, 1);
    await wait(frames[n].time);
  }
  recorder.stop();
  await over;
  return new Blob(parts, { type });
}

/** The loop of some scenes {value, said}, of at most 8 s and 2 MB: a Blob of image/webp, or a video. */
export async function filmOf(scenes, onProgress) {
  let step = 0;
  const frames = await framesOf(scenes, () => (onProgress(Math.min(90, 2 * ++step)), wait(0))); // the page can be used meanwhile
  const images = [];
  for (const { drawn } of frames) images.push(await imageOf(drawn));
  const canvas = el("canvas", {});
  const pen = canvas.getContext("2d", { alpha: false });
  const draw = (image, scale) => {
    const [width, height] = [image.width, image.height].map((length) => 2 * Math.round((length * scale) / 2)); // even, for a video
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    pen.drawImage(image, 0, 0, width, height);
  };
  return (await webpOf(images, frames, canvas, draw)) ?? videoOf(images, frames, canvas, draw);
}
