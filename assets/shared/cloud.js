// Many points drawn by the graphics card: they glide from their former places, and a zoom moves none of them.
import { rgb } from "./theme.js";

const GLIDE = 450; // ms
const still = matchMedia("(prefers-reduced-motion: reduce)");

const VERTEX = `attribute vec2 before, after; attribute vec4 colour; attribute vec2 look;
uniform float share, pixels; uniform vec2 room; uniform vec3 view; varying vec4 fill; varying float ringed;
void main() {
  vec2 place = (mix(before, after, share) * view.z + view.xy) / room;
  gl_Position = vec4(2. * place.x - 1., 1. - 2. * place.y, 0., 1.);
  gl_PointSize = look.x * pixels; fill = colour; ringed = look.y;
}`;
const FRAGMENT = `precision mediump float; uniform vec3 edge; varying vec4 fill; varying float ringed;
void main() {
  float far = length(gl_PointCoord - .5);
  float alpha = fill.a * smoothstep(.5, .42, far);
  gl_FragColor = vec4(mix(fill.rgb, edge, ringed * step(.3, far)) * alpha, alpha);
}`;

function programOf(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  return program;
}

/**
 * A cloud of points on a canvas: `show` gives them places in px, colours and sizes, `look` moves the view.
 * Without WebGL they are squares that do not glide.
 * @param {HTMLCanvasElement} canvas
 */
export function cloudOn(canvas) {
  const gl = canvas.getContext("webgl", { antialias: false, preserveDrawingBuffer: true }); // which the export reads
  const program = gl && programOf(gl);
  const uniform = (name) => gl.getUniformLocation(program, name);
  const buffers = new Map();
  let shown = { places: new Float32Array(), colours: new Uint8Array(), looks: new Float32Array(), key: "" };
  let [before, began, waits] = [null, 0, 0];
  let view = { x: 0, y: 0, k: 1 };
  let size = { width: 1, height: 1 };

  function feed(name, width, values, kind, normal = false) {
    const at = gl.getAttribLocation(program, name);
    if (!buffers.has(name)) buffers.set(name, gl.createBuffer());
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.get(name));
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, width, kind, normal, 0, 0);
  }

  const shareNow = () => (before && !still.matches ? Math.min(1, (performance.now() - began) / GLIDE) : 1);
  const eased = (share) => 1 - (1 - share) ** 3;

  function squares() {
    const pen = canvas.getContext("2d");
    const sharp = canvas.width / size.width;
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    pen.clearRect(0, 0, size.width, size.height);
    const { places, colours, looks } = shown;
    for (let i = 0; i < places.length / 2; i++) {
      const wide = looks[2 * i];
      pen.fillStyle = `rgba(${colours[4 * i]}, ${colours[4 * i + 1]}, ${colours[4 * i + 2]}, ${colours[4 * i + 3] / 255})`;
      pen.fillRect(places[2 * i] * view.k + view.x - wide / 2, places[2 * i + 1] * view.k + view.y - wide / 2, wide, wide);
    }
  }

  function draw() {
    waits = 0;
    if (!gl) return squares();
    const share = shareNow();
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform1f(uniform("share"), eased(share));
    gl.uniform1f(uniform("pixels"), canvas.width / size.width);
    gl.uniform2f(uniform("room"), size.width, size.height);
    gl.uniform3f(uniform("view"), view.x, view.y, view.k);
    gl.drawArrays(gl.POINTS, 0, shown.places.length / 2);
    if (share < 1) soon();
  }

  const soon = () => (waits ||= requestAnimationFrame(draw));

  return {
    look(wanted) {
      view = wanted;
      soon();
    },
    /** Points with another `key` are other points: they appear where they are. */
    show({ places, colours, looks, edge, key }, room) {
      size = room;
      const sharp = Math.min(2, devicePixelRatio || 1);
      canvas.width = Math.round(size.width * sharp);
      canvas.height = Math.round(size.height * sharp);
      const same = key === shown.key && places.length === shown.places.length;
      if (!same || !places.every((place, i) => place === shown.places[i])) {
        before = same ? now() : null;
        began = performance.now();
      }
      shown = { places, colours, looks, key };
      if (gl) {
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        feed("before", 2, before ?? places, gl.FLOAT);
        feed("after", 2, places, gl.FLOAT);
        feed("colour", 4, colours, gl.UNSIGNED_BYTE, true);
        feed("look", 2, looks, gl.FLOAT);
        gl.uniform3fv(uniform("edge"), rgb(edge).slice(0, 3).map((part) => part / 255));
      }
      draw();
    },
  };

  function now() {
    const share = eased(shareNow());
    const from = before ?? shown.places;
    return shown.places.map((place, i) => from[i] + share * (place - from[i]));
  }
}
