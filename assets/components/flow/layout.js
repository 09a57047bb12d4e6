// Where everything of the picture is: the lengths in px, and the place of each row and column at each level of the zoom.

const HEAD = { full: 46, bare: 28, open: 54, phone: 136 }; // px above the rows: with and without a line below the titles, and in the zoom
export const BARE = 118; // px of a column that is too narrow for that line
const ROW = { least: 17, most: 36 }; // px of the screen, however much is enlarged
const PLAYER = 104; // px that the button of the story needs above the names
const STAGE = { least: 180, weight: 400, list: 340 }; // px: its width; its height for one weight; and of the neurons below the heads
export const NARROW = 520; // px of the stage in which the neurons are below the heads
const SLIM = 240; // px of the stage that has room for two heads beside each other
const HEAD_LEAST = 84; // px: the height of a head's small picture with its two lines

const topOf = (flow) => flow.nodes.sheet.getBoundingClientRect().top + scrollY;
export const level = (flow) => flow.zoom?.at.length ?? 0;
/** Whether a server answers: not in the first picture of a page, and not in a file. */
export const isLive = ({ root, alone }) => !alone && Boolean(root.closest("gradio-app"));
export const px = (number) => `${number.toFixed(1)}px`;

/** Measure the room there is, and share it out. */
export function measure(flow) {
  const { root, value, nodes } = flow;
  const [states, rows, open] = [value.states, value.tokens.length, level(flow)];
  const width = root.clientWidth || 960;
  const stage = root.closest("[data-presented]"); // presented: enlarged, with the full height
  const zoom = stage ? root.currentCSSZoom ?? 1 : 1;
  const phone = width < 640;
  const label = stage ? 92 : phone ? 78 : PLAYER;
  const under = phone && !stage; // the answers, since beside the picture they would take half of the width
  const output = stage ? 150 : under ? 12 : Math.min(240, Math.max(190, width * (states > 9 ? 0.15 : 0.19)));
  const fits = (width - label - output) / states;
  const column = Math.max(stage ? 58 : 66, Math.min(190, fits));
  const told = nodes.story.classList.contains("bx-telling") ? nodes.story.offsetHeight : 0;
  const paper = root.closest(".bx-paper"); // the same in every window
  const free = flow.alone ? innerHeight * 0.7 : innerHeight - topOf(flow) - 4; // a file or a notebook has no first screen
  const film = root.closest(".bx-film"); // whose rows are as high as in a window
  const fold = film ? Math.min(600, HEAD.full + 30 * rows) : paper ? HEAD.full + 24 * rows : stage ? stage.clientHeight / zoom - told - 8 : free;
  const head = open ? (phone ? HEAD.phone : HEAD.open) : column < BARE ? HEAD.bare : HEAD.full;
  const room = Math.max(fold, 240) - head - 8; // all rows end on the first screen, if that leaves them legible
  const row = Math.max((phone && !stage ? 22 : ROW.least) / zoom, Math.min(ROW.most, room / rows));
  const letters = Math.max(stage ? 7.6 : 9.5, Math.min(16, row * 0.6, column * 0.165));
  const box = Math.min(140, column * (column < 92 ? 0.82 : 0.68));
  const high = head + rows * row + 8;
  const field = open ? Math.max(width - label, 2 * box + STAGE.least + output) : states * column + output;
  const narrow = field - output - 2 * box < NARROW;
  const heads = flow.zoom?.layer?.heads.length ?? 12;
  const columns = narrow ? (field - output - 2 * box < SLIM ? 2 : 3) : 4;
  const grid = narrow ? Math.max(rows * row, Math.ceil(heads / columns) * HEAD_LEAST + 22) : 0;
  const least = open === 3 ? head + STAGE.weight : open === 1 ? head + (narrow ? grid + STAGE.list : 330) : 0;
  flow.size = { label, output, under, column, row, letters, head, box, field, fold, top: topOf(flow), phone, narrow, columns, grid,
    height: Math.max(high, least), line: Math.max(21, Math.round(letters * 1.6)), seen: Math.min(high, Math.max(fold, 240)) };
}

/** Whether something moved the picture down since it was measured. */
export const hasMoved = (flow) => flow.size.top !== undefined && Math.abs(topOf(flow) - flow.size.top) > 2;

/** The middle of a column. In the zoom, the two hidden states around the open layer are at the sides of its stage. */
export function xOf({ zoom, size }, state) {
  if (!zoom) return (state + 0.5) * size.column;
  const half = size.box / 2 + 4;
  const far = 30; // px: the others leave by the nearer side
  return state < zoom.at[0] ? half - far * (zoom.at[0] - 1 - state) : size.field - size.output - half + far * (state - zoom.at[0]);
}

export const yOf = ({ size }, row) => size.head + (row + 0.5) * size.row;

/** Whether a column is one of the two around the open layer, or nothing is open. */
export const isSeen = ({ zoom }, state) => !zoom || state === zoom.at[0] - 1 || state === zoom.at[0];

/** The room between the two columns: {left, top, width, height}. */
export function stageOf(flow) {
  const { size, zoom, value } = flow;
  const edge = size.box / 2 + 6;
  const left = xOf(flow, zoom.at[0] - 1) + edge;
  return { left, top: size.head, width: xOf(flow, zoom.at[0]) - edge - left, height: size.row * value.tokens.length };
}

export function hueOf({ value }, row) {
  const last = value.elsewhere && row === value.tokens.length - 1;
  const kind = value.kinds[row];
  return `var(--bx-flow-${last ? "special" : kind === "mask" ? "blank" : kind === "special" ? "special" : value.segments[row] ? "b" : "a"})`;
}

export function curve(fromX, fromY, toX, toY) {
  const middle = (toX - fromX) / 2;
  return `M${fromX.toFixed(1)} ${fromY.toFixed(1)}C${(fromX + middle).toFixed(1)} ${fromY.toFixed(1)} ${(toX - middle).toFixed(1)} ${toY.toFixed(1)} ${toX.toFixed(1)} ${toY.toFixed(1)}`;
}

/** Move and size a box. */
export function putAt(node, { left, top, width, height }) {
  for (const [name, length] of Object.entries({ left, top, width, height })) if (length !== undefined) node.style[name] = px(length);
}

/** Whether a path from the sender may end in a box: what a link brings stays in its row. */
export const receives = ({ sender, value }, state, row) => !sender || (state >= sender[0] && (sender.length === 2 || value.places[row] === sender[1]));

/** The path that was tested, from where its message begins to where it is read, as the ends of a curve; a head is above its layer. */
export function pathEnds(flow) {
  const { value: { path, places }, size } = flow;
  const [[layer, ...at], [to, place, part]] = path;
  const head = (one) => [(xOf(flow, one - 1) + xOf(flow, one)) / 2, size.head - 4];
  const box = (state, token, side) => [xOf(flow, state) + side * size.box / 2, yOf(flow, Math.max(0, places.indexOf(token)))];
  return [...(at.length === 1 ? head(layer) : box(layer, at[0], 1)), ...(part ? head(to) : box(to, place, -1))];
}
