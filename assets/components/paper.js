// Convert a component's DOM nodes to SVG shapes and text that any editor opens, without embedded HTML.
import { shortened } from "../arithmetic/labels.js";
import { svg } from "../shared/dom.js";
import { rgb } from "../shared/theme.js";

const FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"; // fonts of which every machine has one
const CELLS = 64; // the pixels of a canvas up to this width are drawn as squares
const pen = document.createElement("canvas").getContext("2d");
const round = (number) => String(+number.toFixed(2));
const known = new Map();

// A CSS colour as an attribute and its opacity, and without a name as its text; null if it is transparent.
function ink(name, written) {
  if (!known.has(written)) known.set(written, rgb(written));
  const [r, g, b, a] = known.get(written);
  return a ? { [name]: `rgb(${r},${g},${b})`, [`${name}-opacity`]: a < 255 ? round(a / 255) : null } : null;
}

const colour = (written) => ink("fill", written)?.fill ?? null;

function rect({ left, top, width, height }, more) {
  return width > 0 && height > 0 ? svg("rect", { x: round(left), y: round(top), width: round(width), height: round(height), ...more }) : null;
}

const grown = ({ left, top, width, height }, by) => ({ left: left - by, top: top - by, width: width + 2 * by, height: height + 2 * by });

// The background of an element with its borders, outline and shadow rings.
function boxOf(style, area) {
  const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, area.height / 2);
  const rx = (more = 0) => (radius ? round(Math.max(0, radius + more)) : null);
  const shapes = [];
  for (const shadow of style.boxShadow === "none" ? [] : style.boxShadow.split(/,(?![^(]*\))/).reverse()) {
    const [x, y, blur, spread] = [...shadow.replace(/\w+\([^)]*\)/g, "").matchAll(/-?[\d.]+px/g)].map(([length]) => parseFloat(length));
    const tone = shadow.match(/\w+\([^)]*\)|#\w+/)?.[0] ?? "transparent";
    if (!colour(tone) || x || blur) continue;
    const [inset, stroke] = [shadow.includes("inset"), ink("stroke", tone)];
    if (y) {
      const line = inset ? { ...area, top: y < 0 ? area.top + area.height + y : area.top, height: Math.abs(y) } : { ...area, top: area.top + area.height - 1, height: y + spread + 1 };
      shapes.push(rect(line, ink("fill", tone)));
    } else if (spread) shapes.push(rect(grown(area, (inset ? -1 : 1) * spread / 2), { fill: "none", ...stroke, "stroke-width": spread, rx: rx((inset ? -1 : 1) * spread / 2) }));
  }
  if (colour(style.backgroundColor)) shapes.push(rect(area, { ...ink("fill", style.backgroundColor), rx: rx() }));
  const sides = ["Top", "Right", "Bottom", "Left"].map((side) => [side, parseFloat(style[`border${side}Width`]), style[`border${side}Style`], style[`border${side}Color`]]);
  const drawn = sides.filter(([, width, kind, tone]) => width && kind !== "none" && colour(tone));
  const dashes = (kind, width) => ({ dashed: `${3 * width} ${2 * width}`, dotted: `${width} ${width}` })[kind] ?? null;
  if (drawn.length === 4) {
    const [, width, kind, tone] = drawn[0];
    shapes.push(rect(grown(area, -width / 2), { fill: "none", ...ink("stroke", tone), "stroke-width": width, "stroke-dasharray": dashes(kind, width), rx: rx(-width / 2) }));
  } else {
    for (const [side, width, kind, tone] of drawn) {
      const { left, top } = area;
      const [right, bottom, half] = [left + area.width, top + area.height, width / 2];
      const [x1, y1, x2, y2] = { Top: [left, top + half, right, top + half], Bottom: [left, bottom - half, right, bottom - half],
        Left: [left + half, top, left + half, bottom], Right: [right - half, top, right - half, bottom] }[side].map(round);
      shapes.push(svg("line", { x1, y1, x2, y2, ...ink("stroke", tone), "stroke-width": width, "stroke-dasharray": dashes(kind, width) }));
    }
  }
  const [outline, offset] = [parseFloat(style.outlineWidth), parseFloat(style.outlineOffset) || 0];
  if (style.outlineStyle !== "none" && outline && colour(style.outlineColor)) {
    shapes.push(rect(grown(area, offset + outline / 2), { fill: "none", ...ink("stroke", style.outlineColor), "stroke-width": outline, rx: rx(offset) }));
  }
  return shapes;
}

// The measures of a text; the pen keeps its font.
function measured(text, style) {
  pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  return pen.measureText(text);
}

// One line of text in its place. It keeps its width in any font.
function line(text, style, area, { end = area.left + area.width, vertical = false } = {}) {
  const shown = text.replace(/\s+/g, " ");
  if (!shown.trim() || !colour(style.color)) return null;
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = measured(shown, style);
  const look = { "font-size": parseFloat(style.fontSize), "font-weight": style.fontWeight === "400" ? null : style.fontWeight,
    "font-style": style.fontStyle === "normal" ? null : style.fontStyle, "font-family": /mono/.test(style.fontFamily) ? "monospace" : null, ...ink("fill", style.color) };
  if (vertical) {
    const [x, y] = [area.left + area.width / 2, area.top + area.height / 2];
    return svg("text", { ...look, transform: `translate(${round(x + (above - below) / 2)} ${round(y)}) rotate(-90)`, "text-anchor": "middle" }, shown);
  }
  const told = shortened(shown, end + 1 - area.left, (part) => pen.measureText(part).width);
  const length = told === shown ? area.width : pen.measureText(told).width;
  const baseline = area.top + (area.height - above - below) / 2 + above;
  return svg("text", { ...look, x: round(area.left), y: round(baseline), textLength: told.trim().length > 1 ? round(length) : null, lengthAdjust: "spacingAndGlyphs",
    "text-decoration": style.textDecorationLine === "line-through" ? "line-through" : null, "xml:space": "preserve" }, told);
}

// The lines into which a text node is broken: [text, area].
function linesOf(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  if (range.getClientRects().length < 2) return [[node.data, range.getBoundingClientRect()]];
  const lines = [];
  for (let i = 0; i < node.data.length; i++) {
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    const one = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (!one.width) continue;
    if (last && Math.abs(last[1].top - one.top) < 2) {
      last[0] += node.data[i];
      last[1] = { ...last[1], width: one.right - last[1].left };
    } else lines.push([node.data[i], { left: one.left, top: one.top, width: one.width, height: one.height }]);
  }
  return lines;
}

// The visible end of a text that is too long for its box.
function endOf(node) {
  for (let box = node.parentElement; box && !box.matches(".bx"); box = box.parentElement) {
    const style = getComputedStyle(box);
    if (style.textOverflow === "ellipsis" && style.overflowX !== "visible") return box.getBoundingClientRect().right - parseFloat(style.paddingRight);
  }
  return Infinity;
}

// The look and the place that a style sheet gives a shape, as attributes: other programs read no CSS of ours.
function spelled(shape, style) {
  for (const name of ["fill", "stroke"]) {
    if (!shape.getAttribute(name)?.startsWith("url")) shape.setAttribute(name, style[name] === "none" ? "none" : colour(style[name]) ?? "none");
  }
  const rest = ["fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-size",
    "font-weight", "font-style", "dominant-baseline", "paint-order"];
  for (const name of rest) shape.setAttribute(name, style.getPropertyValue(name));
  if (style.transform !== "none") shape.setAttribute("transform", style.transform);
  for (const name of ["class", "style"]) shape.removeAttribute(name);
}

function inner(node, from) {
  const copy = node.cloneNode(true);
  const own = [...node.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((one, i) => {
    const style = getComputedStyle(own[i]);
    if (one.tagName === "stop") one.setAttribute("stop-color", colour(style.stopColor) ?? "none");
    else if (!one.closest("defs")) spelled(one, style);
    if (style.vectorEffect !== "none") one.setAttribute("vector-effect", style.vectorEffect);
  });
  for (const text of copy.querySelectorAll("text[paint-order=stroke]")) { // not all programs know it: its outline is another text below
    text.before(text.cloneNode(true));
    for (const part of [text, ...text.children]) part.setAttribute("stroke", "none");
  }
  const area = node.getBoundingClientRect();
  for (const [name, value] of Object.entries({ x: area.left - from.left, y: area.top - from.top, width: area.width, height: area.height })) copy.setAttribute(name, round(value));
  if (getComputedStyle(node).fill === "none") copy.setAttribute("fill", "none");
  for (const name of ["class", "role", "aria-label", "style"]) copy.removeAttribute(name);
  return [copy];
}

/** The visible pixels of a small canvas as squares, one path for each colour. */
export function cellsOf(canvas, area) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const paths = new Map();
  for (let i = 0; i < canvas.width * canvas.height; i++) {
    if (!data[4 * i + 3]) continue;
    const fill = `rgb(${data.slice(4 * i, 4 * i + 3)})`;
    paths.set(fill, `${paths.get(fill) ?? ""}M${i % canvas.width} ${Math.floor(i / canvas.width)}h1v1h-1z`);
  }
  const place = `translate(${round(area.left)} ${round(area.top)}) scale(${area.width / canvas.width} ${area.height / canvas.height})`;
  return svg("g", { transform: place, "shape-rendering": "crispEdges" }, ...[...paths].map(([fill, d]) => svg("path", { fill, d })));
}

function bitmapOf(canvas, { left, top, width, height }, isSharp) {
  const style = isSharp ? "image-rendering:pixelated" : null;
  return svg("image", { x: round(left), y: round(top), width: round(width), height: round(height), href: canvas.toDataURL(), preserveAspectRatio: "none", style });
}

// The shapes of an element and its contents, relative to the corner `from`.
function shapesOf(node, from) {
  const at = ({ left, top, width, height }) => ({ left: left - from.left, top: top - from.top, width, height });
  if (node.nodeType === Node.TEXT_NODE) {
    const style = getComputedStyle(node.parentElement);
    const vertical = style.writingMode.startsWith("vertical");
    if (vertical) return [line(node.data, style, at(node.parentElement.getBoundingClientRect()), { vertical })];
    return linesOf(node).map(([text, area]) => line(text, style, at(area), { end: endOf(node) - from.left }));
  }
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(".bx-overview, .bx-hint, .bx-do-mask, .bx-save, .bx-map-list, .bx-map-film")) return [];
  const style = getComputedStyle(node);
  const area = at(node.getBoundingClientRect());
  if (style.display === "none" || style.visibility === "hidden") return [];
  const opacity = Number(style.opacity);
  const seen = (shapes) => (opacity < 1 ? [svg("g", { opacity: round(opacity) }, ...shapes)] : shapes);
  if (node instanceof SVGSVGElement) return opacity ? seen(inner(node, from)) : [];
  const own = boxOf(style, area);
  if (node.tagName === "CANVAS") {
    const isSharp = style.imageRendering === "pixelated";
    return [...own, isSharp && node.width <= CELLS ? cellsOf(node, area) : bitmapOf(node, area, isSharp), ...after(node, area)];
  }
  const before = getComputedStyle(node, "::before");
  const word = before.content.match(/^"(.+?)"/)?.[1];
  const label = word && before.position === "static" ? [line(word, before, { ...area, left: area.left + parseFloat(style.paddingLeft), width: measured(word, before).width })] : [];
  const inside = [...own, ...label, ...[...node.childNodes].flatMap((child) => shapesOf(child, from)), ...after(node, area)];
  return seen(inside);
}

// What a style sheet draws over an element without text: a bar, a cross.
function after(node, area) {
  const style = getComputedStyle(node, "::after");
  if (style.content === "none" || style.position !== "absolute") return [];
  const [left, bottom, width, height] = [style.left, style.bottom, style.width, style.height].map((length) => parseFloat(length) || 0);
  return boxOf(style, { left: area.left + left, top: area.top + area.height - bottom - height, width, height });
}

/** The text of an SVG as an image. */
export async function imageOf(written) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([written], { type: "image/svg+xml" }));
  await image.decode();
  URL.revokeObjectURL(image.src);
  return image;
}

/** The picture of a component, to be written to a file; `about` is its description for screen readers. */
export function svgFrom(root, { title, about }) {
  const MARGIN = 8;
  const area = root.getBoundingClientRect();
  const from = { left: area.left - MARGIN, top: area.top - MARGIN };
  const [width, height] = [root.scrollWidth, root.scrollHeight].map((length) => Math.ceil(length) + 2 * MARGIN);
  return svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "font-family": FONTS },
    svg("title", {}, title), svg("desc", {}, about), svg("rect", { width, height, fill: "#fff" }), ...shapesOf(root, from).filter(Boolean));
}
