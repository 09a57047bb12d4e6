// The teacher's room: opened, kept while the page is loaded again, closed, and followed by phones. `bert:room` on the document says
// that something of it has changed.
import { hidden, isChosen, setHidden } from "../answers.js";
import { linkState, ownQuery } from "../link.js";
import { covered } from "../page/pointing.js";
import { store, stored } from "../shared/storage.js";
import { listen, send } from "./news.js";

const KEPT = "bert-room"; // key in sessionStorage

/** The open room, and what its board is at. */
export const classroom = {
  room: null, // { word, key, address, following }, as it is kept
  state: null, // the room's last message
  wrong: "", // the last error
};

let stop = null; // ends the listening
let told = ""; // what followers were last sent, and
let timer = 0; // the timer of the next message to them

/** Have everything that shows the room drawn again. */
const changed = () => document.dispatchEvent(new CustomEvent("bert:room"));

// ---- Opening and closing.

/** Open a room, unless one is open. Throws an error whose message is a sentence to show. */
export async function openRoom() {
  if (!classroom.room) start(await send("", ""));
}

function start(room) {
  classroom.room = room;
  keep();
  const lost = (now) => document.body.toggleAttribute("data-room-lost", now);
  stop = listen(room.word, room.key, { heard: take, lost, over: end });
  if (room.following) follow();
}

const keep = () => store(KEPT, classroom.room, "sessionStorage");

// The number of the round in which the class guesses what the page shows; a lesson's step covers its own answer.
const guessing = (state) => (state?.round && !state.round.revealed && state.round.kind !== "lesson" ? state.round.number : 0);

function take(state) {
  const now = guessing(state);
  if (now !== guessing(classroom.state)) setHidden(now > 0 || isChosen(), false);
  classroom.state = state;
  changed();
}

function end() {
  stop?.();
  setHidden(isChosen(), false);
  Object.assign(classroom, { room: null, state: null, wrong: "" });
  [stop, told] = [null, ""];
  keep();
  changed();
}

/** The room's word as it is said. */
export const spoken = () => classroom.room.word.replaceAll("-", " ");

/** Do something as the teacher; an error is shown on the board. `take` is called with the answer. */
export async function act(action, body = {}, take = () => {}) {
  const { word, key } = classroom.room;
  classroom.wrong = "";
  try {
    take(await send(`/${word}/${action}`, key, body));
  } catch (error) {
    classroom.wrong = error.message;
  }
  if (classroom.room) changed();
}

// ---- Following.

/** The query of the link to what the page shows. */
export const place = () => linkState.query ?? location.search.slice(1);

// Send phones where the page is, if they follow it.
function follow() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (!classroom.room?.following) return;
    const body = { query: ownQuery(), hidden: hidden(), covered: covered.id };
    if (JSON.stringify(body) !== told) act("follow", body);
    told = JSON.stringify(body);
  }, 150);
}

/** Let phones follow this page, or no longer. */
export function setFollowing(on) {
  classroom.room.following = on;
  keep();
  told = "";
  if (on) follow();
  else act("follow");
  changed();
}

/** Resume the room that was open before the page was loaded again, and have phones follow from now on. */
export function resumeRoom() {
  document.addEventListener("bert:moved", follow);
  addEventListener("DOMContentLoaded", () => {
    const room = stored(KEPT, "sessionStorage");
    if (room?.key) start(room);
    new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ["data-answers"] });
  });
}
