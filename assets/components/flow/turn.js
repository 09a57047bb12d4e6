// The card of a slider: a direction between two words, added to the vector of the chosen box. The words follow while it moves.
import { el } from "../../shared/dom.js";
import { cardOf } from "./cards.js";

const STRONGEST = 3; // times the distance between both words
const PATIENCE = 4000; // ms after which a strength is sent though the last has no answer

/** The slider of a picture; `ask` sends what is asked for. */
export function turnOf(flow, ask) {
  const way = el("select", { "aria-label": "Direction" });
  const strength = el("input", { type: "range", min: 0, max: STRONGEST, step: 0.1, "aria-label": "Strength of the direction" });
  const shown = el("output", {});
  const card = cardOf("Move this vector from one word to another", way, shown, strength);
  let [waits, asked] = [false, null]; // whether a strength is still to be sent, and when the one without an answer was

  const place = () => [flow.target.state, flow.value.places[flow.target.row]];
  const tell = () => (shown.textContent = `× ${Number(strength.value).toFixed(1)}`);

  function send() {
    waits = asked !== null && performance.now() < asked + PATIENCE;
    if (waits) return;
    asked = performance.now();
    ask({ move: [...place(), ...way.value.split(" "), Number(strength.value)] });
  }

  /** After an answer: whether another strength was asked for meanwhile, which is sent now. */
  function isNext() {
    asked = null;
    const more = waits;
    if (more) send();
    return more;
  }

  /** The card with some pairs of words, which shows what the run has. */
  function draw(ways) {
    const token = flow.value.tokens[flow.target.row].toLowerCase();
    const own = ways.findIndex(([word]) => word === token);
    if (!way.childElementCount) way.replaceChildren(...ways.map(([word, other]) => el("option", { value: `${word} ${other}` }, `${word} → ${other}`)));
    const move = flow.value.move;
    const here = move && move.slice(0, 2).join() === place().join();
    if (here && asked === null && !waits) [way.value, strength.value] = [move.slice(2, 4).join(" "), move[4]];
    else if (!here && asked === null && !waits) strength.value = 0;
    if (!card.isConnected && !here) way.selectedIndex = Math.max(0, own);
    tell();
    return card;
  }

  strength.addEventListener("input", () => (tell(), send()));
  way.addEventListener("input", () => Number(strength.value) && send());
  return { draw, isNext };
}
