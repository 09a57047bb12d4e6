// The story: the picture in steps, one stop at a time. To attend and to transform open the zoom, and to repeat closes it.
import { reveal, rove } from "../../shared/dom.js";
import { level } from "./layout.js";

const PAUSE = 4200; // ms at each stop
const DEEPER = 1300; // ms at each level of the zoom on the way to one number
const COLUMN = 380; // ms from one column to the next

/** The story of a picture. */
export function storyOf(flow, { show, fit, open, still }) {
  let stop = -1; // -1 for the whole picture
  let playing = 0;
  const last = () => flow.value.states - 1;
  const count = () => flow.value.stops.length;
  const pressed = () => (stop < 0 ? flow.stops.length - 1 : stop);
  const title = () => flow.value.stops[stop]?.title ?? "all";

  /** The number of columns shown at the present stop. */
  const shownAt = () => ({ read: -1, embed: 0 })[title()] ?? flow.value.shown ?? last();

  function tell() {
    const { nodes, value } = flow;
    const text = stop < 0 ? value.said : value.stops[stop].text;
    if (nodes.said.textContent !== text) nodes.said.textContent = text; // read out only when it changes
    nodes.said.classList.toggle("bx-told", stop >= 0);
    nodes.note.textContent = value.said;
    const isTelling = nodes.story.classList.contains("bx-telling");
    if ((stop >= 0 || playing) && !isTelling) {
      nodes.story.classList.add("bx-telling"); // from now on its stops can be chosen
      fit();
    }
    const isSmall = nodes.story.classList.contains("bx-telling") || flow.root.closest("[data-presented]");
    nodes.player.textContent = playing ? "❚❚" : isSmall ? "▶" : "▶ step by step";
    nodes.player.setAttribute("aria-label", playing ? "Pause" : "Play, step by step");
    flow.stops.forEach((one) => one.setAttribute("aria-pressed", String(Number(one.dataset.stop) === stop)));
    rove(flow.stops, pressed()); // the playing stop can be reached by the Tab key, too
    flow.root.dataset.stop = title();
  }

  function go(to, focus = false) {
    const { value, root } = flow;
    stop = Math.max(-1, Math.min(count() - 1, to));
    const kind = title();
    if (kind === "judge" && value.answers.some((one) => one.pair)) flow.target = { state: last(), row: 0 };
    else flow.target = { ...value.target };
    root.dataset.stop = kind;
    const levels = ((stop >= 0 && value.stops[stop].zoom) || []).filter((at) => !flow.alone || at.length <= (value.layers.length ? 2 : 0)); // a file has no vectors
    if (levels.length || level(flow)) open(levels[still.matches ? levels.length - 1 : 0] ?? []);
    if (!still.matches) levels.slice(1).forEach((at, n) => setTimeout(() => title() === kind && root.isConnected && open(at), DEEPER * (n + 1)));
    show();
    tell();
    if (focus) flow.stops[pressed()].focus({ preventScroll: true });
    reveal(flow.stops[0].parentElement, flow.stops[pressed()]); // on a phone the stops are in one line
    if (kind === "repeat" && !still.matches) grow(1);
  }

  // Show one column after the other.
  function grow(state) {
    if (title() !== "repeat" || state >= flow.value.states) return;
    show(state);
    setTimeout(() => grow(state + 1), COLUMN);
  }

  function play(on) {
    clearInterval(playing);
    if (on) go(stop < count() - 1 ? stop + 1 : -1); // after the last stop the whole picture, where it ends
    playing = on && stop >= 0 ? setInterval(() => play(flow.root.isConnected), PAUSE) : 0;
    tell();
  }

  /** The whole picture again. */
  function end() {
    clearInterval(playing);
    [playing, stop] = [0, -1];
  }

  /** Stop playing, and go to a stop. */
  function choose(to) {
    play(false);
    go(to, true);
  }

  /** Go to the next or the previous stop, around the end. */
  const step = (by) => choose(stop + by < -1 ? count() - 1 : stop + by >= count() ? -1 : stop + by);

  return { tell, choose, end, step, shownAt, toggle: () => play(!playing) };
}
