// Going from level to level of the zoom: what is known is shown at once, and the rest is asked for.
import { isLive, level } from "./layout.js";
import { deeper } from "./zoom.js";

/** The levels of a picture; `sent` notes what was asked for last. */
export function levelsOf(flow, { stage, drawAll, choose, ask, sent }) {
  let wantsFocus = false; // when the level is there
  let asked = null; // the layer whose neurons were asked for

  /** Go to a level: [layer, head, token], of which the last ones may be missing. */
  function open(at) {
    const { value, zoom, alone, root, target } = flow;
    if (!alone && !isLive(flow)) return;
    const here = at.length === 3 ? [at[0], at[1], value.places.indexOf(at[2])] : at;
    const known = zoom?.at[0] === at[0] && zoom.layer?.row === target.row ? zoom.layer : null;
    const focused = document.activeElement;
    wantsFocus = focused === document.body || (root.contains(focused) && !focused.closest(".bx-flow-stops"));
    flow.zoom = at.length ? { at: here, layer: alone ? value.layers[at[0] - 1] ?? null : known, weight: null } : null;
    if (alone && flow.zoom?.layer && target.row !== flow.zoom.layer.row) flow.target = { ...value.target };
    sent(JSON.stringify(here));
    drawAll();
    if (alone) complete();
    else ask({ zoom: at });
  }

  /** What was asked for is there: the focus goes to it, and the neurons follow. */
  function complete() {
    const { zoom, boxes, target, value, alone } = flow;
    if (zoom?.layer && zoom.layer.neurons === null && !alone && asked !== zoom.layer) {
      asked = zoom.layer;
      ask({ neurons: zoom.layer.layer });
    }
    if (!wantsFocus || (zoom && !(zoom.layer && (level(flow) < 3 || zoom.weight)))) return;
    wantsFocus = false;
    if (document.activeElement.closest(".bx-flow-card")) return; // it is in use already
    if (zoom) stage.focus();
    else boxes[target.row * value.states + target.state]?.focus({ preventScroll: true });
  }

  /** One level back; returns whether there was one. */
  function out() {
    if (!level(flow)) return false;
    open(flow.zoom.at.map((one, n) => (n < 2 ? one : flow.value.places[one])).slice(0, -1));
    return true;
  }

  /** One level deeper, at the node that is pointed at; returns whether there was one. */
  function into(node) {
    const { value, target, alone } = flow;
    const pointed = node?.closest?.("[data-act]")?.dataset.act ?? node?.closest?.(".bx-zoom-head")?.lastChild.dataset.act;
    if (level(flow)) {
      const wished = pointed ? JSON.parse(pointed).zoom : null;
      const next = wished?.length > level(flow) ? wished : deeper(flow);
      if (next) open(next);
      return Boolean(next);
    }
    const box = node?.closest?.(".bx-flow-box, .bx-flow-title");
    const state = Number(box?.dataset.state ?? box?.dataset.layer ?? target.state);
    if (!(state > 0) || (alone && !value.layers.length)) return false;
    if (box?.dataset.row && Number(box.dataset.row) !== target.row) {
      wantsFocus = true;
      flow.zoom = { at: [state], layer: null, weight: null };
      sent(JSON.stringify([state]));
      choose(Number(box.dataset.row), state, true);
    } else open([state]);
    return true;
  }

  return { open, complete, out, into };
}
