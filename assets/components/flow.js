// The whole model in one picture: a row a token, a column a hidden state, and the routes that end in a chosen place. It zooms in
// place: from the sentence to a layer, a head and one weight.
import { bytes } from "../arithmetic/binary.js";
import { isKey, moveOf } from "../arithmetic/moves.js";
import { sharesFrom } from "../arithmetic/routes.js";
import { plain } from "../shared/dom.js";
import { gridKeys } from "../shared/grid.js";
import { host } from "../shared/host.js";
import { choiceHere, define } from "../shared/mounting.js";
import { lineCard, putCard, sendCard, turnOf } from "./flow/cards.js";
import { drawBoxes, drawLines, traced } from "./flow/drawing.js";
import { light, note, remember } from "./flow/events.js";
import { pageKeys, zoomGestures } from "./flow/gestures.js";
import { hasMoved, isLive, level, measure, receives, xOf } from "./flow/layout.js";
import { levelsOf } from "./flow/levels.js";
import { build, buildRows, place } from "./flow/nodes.js";
import { drawOutputs } from "./flow/outputs.js";
import { storyOf } from "./flow/story.js";
import { stageFor } from "./flow/zoom.js";

define("Flow", ({ element, trigger, props }) => {
  const root = element.querySelector(".bx-flow");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  // What the modules of the picture share: `value` is what Python sent, `size` has lengths in px, `zoom` {at, layer, weight} is what is
  // open, and a picture that is `alone` in a file or a notebook has only the value's own data.
  const flow = { root, value: null, nodes: {}, size: {}, zoom: null, alone: false, mixing: null, target: { state: 0, row: 0 },
    boxes: [], labels: [], titles: [], stops: [], lines: new Map(), outputs: new Map(), snapped: "", strongest: null, sender: null };
  const chosen = choiceHere();
  const opened = choiceHere(20_000); // a slow answer about an earlier level does not close a later one
  let frame = ""; // what the nodes that are not rows were made for,
  let shape = ""; // and the rows
  let before = []; // the tokens of the last drawing
  let drawnFor = 0; // px: width at the last drawing, 0 before the first
  let made = []; // the changes of the run as JSON, in the order in which they were made
  let line = null; // the route whose card is open, and its share
  let turns = null; // the pairs of words of the chosen box's slider, if its card is
  let card = null;

  const at = (zoom) => JSON.stringify(zoom?.at ?? []);
  const states = () => flow.value.states;
  const rows = () => flow.value.tokens.length;
  const stage = stageFor(flow, still);
  const send = (index) => trigger("select", { index, value: "" });
  const turn = turnOf(flow, send);
  const levels = levelsOf(flow, { stage, drawAll: () => (line = null, drawAll()), choose, ask: send, sent: opened.set });
  const { open, into, out } = levels;
  const story = storyOf(flow, { show, fit, open, still });

  // ---- Drawing.

  function show(shown = story.shownAt()) {
    const { shares, routes } = traced(flow, flow.target);
    drawLines(flow, routes, Math.min(shown, flow.target.state), still.matches);
    drawBoxes(flow, shares, shown);
    drawOutputs(flow, shown, still.matches);
    stage.draw();
  }

  function drawAll() {
    const wasOpen = root.dataset.level > 0;
    measure(flow);
    place(flow);
    if (wasOpen !== level(flow) > 0) showEnd();
    show();
    drawCard();
    note(flow);
  }

  function drawCard() {
    const { target: { state, row }, sender, size } = flow;
    const next = line ? lineCard(flow, line.route, line.part) : sender ? sendCard(flow) : turns && !flow.zoom ? turn.draw(turns) : null;
    if (card !== next) card?.remove();
    card = next;
    if (!card) return;
    if (line) putCard(flow, card, (xOf(flow, line.route[0]) + xOf(flow, line.route[0] + 1)) / 2, line.route.slice(1));
    else if (sender) putCard(flow, card, 0, [Math.max(0, flow.value.places.indexOf(sender[2] && sender[1]))]);
    else putCard(flow, card, xOf(flow, state) - size.box, [row]); // the words to the right follow it
    if (document.activeElement === document.body) card.focus({ preventScroll: true }); // a line takes no focus, and Escape closes what has it
  }

  function close() {
    [line, turns, flow.sender] = [null, null, null];
    drawAll();
  }

  function draw() {
    const value = plain(props.value || null);
    flow.value = value;
    if (!value) {
      [frame, shape, before, flow.zoom] = ["", "", [], null];
      return root.replaceChildren();
    }
    flow.alone = Array.isArray(value.layers);
    flow.mixing = value.mixing && sharesFrom(bytes(value.mixing));
    const next = JSON.stringify([value.tokens, value.kinds, value.segments, value.states]);
    const same = next === shape;
    shape = next;
    const focused = flow.boxes.indexOf(document.activeElement);
    const words = same || before.length === value.tokens.length ? flow.boxes.map((box) => box.textContent) : [];
    if (!same) {
      story.end();
      const needed = JSON.stringify([value.states, value.stops.length, flow.alone && value.layers.length]);
      if (needed !== frame) {
        build(flow);
        card = null;
        stage.forget();
      }
      buildRows(flow, needed === frame ? before : []);
      frame = needed;
      if (line && before.length && line.route.slice(1).some((row) => before[row] !== value.tokens[row])) line = null; // it was between other words
      before = value.tokens;
    }
    const settled = same ? opened.settle(at(value.zoom), draw) : at(value.zoom);
    if (settled === at(value.zoom)) flow.zoom = value.zoom ?? null;
    const [state, row] = same ? chosen.settle([value.target.state, value.target.row], draw) : [value.target.state, value.target.row];
    flow.target = { state, row };
    flow.snapped = value.snapped ?? "";
    root.setAttribute("aria-label", value.alt);
    root.classList.toggle("bx-alone", flow.alone);
    const changes = remember(made, value.changes ?? []);
    const news = String(changes) !== String(made);
    made = changes;
    drawAll();
    story.tell();
    if (news && words.length === flow.boxes.length && !still.matches) light(flow, flow.boxes.filter((box, n) => box.textContent !== words[n]));
    if (focused >= 0 && !flow.boxes.includes(document.activeElement)) flow.boxes[Math.min(focused, flow.boxes.length - 1)]?.focus({ preventScroll: true });
    if (!same) showEnd();
    levels.complete();
  }

  // On a phone: scroll to the end of the chosen row's route, in the zoom to its beginning.
  function showEnd() {
    const { size, nodes: { sheet } } = flow;
    const scroll = sheet.parentElement;
    scroll.scrollLeft = flow.zoom ? 0 : Math.max(0, size.label + xOf(flow, flow.target.state) + size.column / 2 + size.output - scroll.clientWidth);
  }

  function fit() {
    if (!flow.value || !root.clientWidth) return;
    const unseen = !drawnFor;
    drawnFor = root.clientWidth;
    drawAll();
    story.tell();
    if (unseen) showEnd();
  }

  // ---- What is asked for.

  function choose(row, state, opens = false) {
    const { value } = flow;
    if (value.elsewhere && row === rows() - 1) return;
    if (flow.alone && !flow.mixing) return; // only this place is in the data
    if (flow.alone && row !== value.layers[0]?.row) flow.zoom = null; // its layers are about one token
    story.end();
    [line, turns] = [null, null];
    chosen.set([state, row]);
    flow.target = { state, row };
    if (flow.mixing) drawAll();
    story.tell();
    trigger("select", { index: { state, token: value.places[row], opens }, value: value.tokens[row] });
  }

  function ask(index) {
    if ("close" in index) return close();
    if (index.zoom) return open(index.zoom);
    if (!isLive(flow)) return;
    if (index.send || index.turn) {
      [line, turns, flow.sender] = [null, index.turn ?? null, index.send ?? null];
      return level(flow) ? open([]) : drawAll();
    }
    if (index.inside) {
      const [layer, head] = index.inside;
      host.page.wish({ layer, head, token: flow.value.places[flow.zoom.layer.row] });
      return host.page.open("Inside a head");
    }
    [line, flow.sender] = [null, null];
    if (index.cut) {
      const [layer, query, key] = index.cut;
      flow.snapped = [layer - 1, flow.value.places.indexOf(query), flow.value.places.indexOf(key)].join(" ");
      const gesture = JSON.stringify({ cut: index.cut });
      made = made.includes(gesture) ? made.filter((one) => one !== gesture) : [...made, gesture]; // U undoes it before the answer
    }
    drawAll(); // before any answer
    send(index);
  }

  function undo() {
    if (!isLive(flow) || !made.length) return false;
    ask(JSON.parse(made.at(-1)));
    return true;
  }

  // The strongest link is cut, in the zoom the open weight, or the open head switched off.
  function cut() {
    const offer = root.querySelector(".bx-zoom-offers :is([data-act*=cut], [data-act*=off])");
    if (!isLive(flow) || !flow.value || !(level(flow) ? offer : flow.strongest)) return false;
    const [layer, ...ends] = flow.strongest ?? [];
    if (level(flow)) offer.click();
    else ask({ cut: [layer + 1, ...ends.map((row) => flow.value.places[row]), 0] });
    return true;
  }

  // What an answer holds that leaves the rest of the picture as it is.
  function receive({ detail: step }) {
    const { value, zoom } = flow;
    if (!value) return;
    if ("zoom" in step && at(step.zoom) === at(zoom)) {
      opened.settle(at(zoom));
      flow.zoom = step.zoom;
    }
    if (step.neurons && zoom?.layer?.layer === step.layer && value.places[zoom.layer.row] === step.token) zoom.layer.neurons = step.neurons;
    if (step.changes) {
      const { reached, ...shown } = step;
      Object.assign(value, shown);
      made = remember(made, step.changes);
      if (!turn.isNext()) send({ rest: true });
    }
    value.zoom = flow.zoom;
    drawAll();
    if (step.changes && !step.words && !still.matches) light(flow, flow.boxes.filter(({ dataset }) => step.reached[dataset.state][dataset.row]));
    levels.complete();
  }

  // ---- Listening.

  function clickBox(button) {
    const [row, state] = [Number(button.dataset.row), Number(button.dataset.state)];
    const { zoom, sender } = flow;
    if (sender && !zoom && button.matches(".bx-flow-box")) return receives(flow, state, row) && ask({ path: [sender, [state, flow.value.places[row]]] });
    if (zoom && level(flow) > 1 && state === zoom.at[0] - 1 && button.matches(".bx-flow-box")) {
      if (!flow.alone && !(flow.value.elsewhere && row === rows() - 1)) open([...zoom.at.slice(0, 2), flow.value.places[row]]);
      return;
    }
    if (!zoom && row === flow.target.row && state === flow.target.state) return into(button); // chosen, answered or not
    choose(row, state);
  }

  root.addEventListener("click", ({ target: node }) => {
    const button = node.closest("button");
    const route = node.closest("[data-route]");
    const arc = node.closest(".bx-open [data-key]");
    if (route) {
      const [layer, query, key] = JSON.parse(route.dataset.route);
      const { routes } = traced(flow, flow.target);
      line = { route: [layer, query, key], part: routes.find((one) => one.slice(0, 3).join() === [layer, query, key].join())?.[3] ?? 0 };
      return drawCard();
    }
    if (arc && !flow.alone) root.querySelector(`.bx-zoom-weight[data-key="${arc.dataset.key}"]:not(:disabled)`)?.click();
    if (!button) return;
    if (button.classList.contains("bx-flow-play")) return story.toggle();
    if (button.dataset.stop) return story.choose(Number(button.dataset.stop));
    if (button.dataset.act) return ask(JSON.parse(button.dataset.act));
    const layer = Number(button.dataset.layer);
    if (layer) return open(flow.zoom?.at[0] === layer && level(flow) === 1 ? [] : [layer]);
    if (button.dataset.row) clickBox(button);
  });
  // The strip hides words; the same gestures do it here.
  const hide = (node) => document.querySelectorAll("#strip .bx-token")[node.closest("[data-token]")?.dataset.token]?.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  root.addEventListener("dblclick", ({ target: node }) => node.closest(".bx-flow-label") && hide(node));
  root.addEventListener("keydown", (event) => {
    if (isKey(event, "m")) return hide(event.target);
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || !moveOf(event) || !event.target.closest(".bx-flow-stops button")) return;
    event.preventDefault();
    story.step(by);
  });
  gridKeys(root, () => (flow.zoom ? stage.keys() : { columns: states(), buttons: flow.boxes }),
    (index) => flow.zoom || choose(Math.floor(index / states()), index % states()));
  pageKeys(root, { undo, cut, enter: () => level(flow) > 0 && into(null), escape: () => (!flow.zoom && (line || turns || flow.sender) ? (close(), true) : out()) });
  zoomGestures(root, { level: () => level(flow), into, out });
  root.addEventListener("bx-step", receive);
  root.addEventListener("bx-restage", fit);
  addEventListener("resize", () => root.isConnected && fit()); // its rows are as high as the window lets them be
  new ResizeObserver(() => root.clientWidth !== drawnFor && fit()).observe(root);
  // What is above it got another line.
  const moved = new ResizeObserver(() => flow.value && hasMoved(flow) && fit());
  for (const one of [document.querySelector("gradio-app #bar"), root.closest(".view")]) if (one) moved.observe(one);
  return draw;
});

// A part of the picture's value: what is open of it, or the words of a run that was just changed.
define("FlowStep", ({ element, props }) => () => {
  const step = plain(props.value || null);
  const flow = element.closest(".view, .tabitem, [role=tabpanel]")?.querySelector(".bx-flow");
  if (step && flow) flow.dispatchEvent(new CustomEvent("bx-step", { detail: step }));
});
