// What the teacher's page shows, drawn on a phone: all of it, or only what a lesson's question is about.
import { draw } from "../file/sides.js";
import { el } from "../shared/dom.js";
import { changed, phone } from "./phone.js";

/** What is followed; `drawn` is the number of what the teacher shows, and the part of it that is drawn. */
export const following = { view: el("div", { class: "bx-shown" }), query: "", drawn: "" };

/**
 * Draw it into the view.
 * @param {number} number of what the teacher shows
 * @param {string} [point] the element id, on the teacher's page, of the only part to draw
 */
export async function picture(number, point = "") {
  const { view } = following;
  const mine = `${number} ${point}`;
  if (following.drawn === mine) return;
  following.drawn = mine;
  view.toggleAttribute("data-stale", true);
  let side;
  try {
    const answer = await fetch(`bx/rooms/${phone.seat.word}/shown`, { headers: { Authorization: `Bearer ${phone.seat.token}` } });
    if (answer.status === 403 || answer.status === 404) return; // the next message says what is shown instead
    if (!answer.ok) throw new Error(String(answer.status));
    side = await answer.json();
  } catch {
    following.drawn = "";
    setTimeout(() => phone.seat && phone.state && changed(), 2000); // the server was busy, or the connection broke
    return;
  }
  if (following.drawn !== mine) return; // something newer is shown
  following.query = side.query;
  changed(); // the link to it
  await draw(view, [point ? only(side, point) : side]);
  view.toggleAttribute("data-stale", false);
}

// The input, and of the views the part that has this id; where none has, all of them.
function only(side, id) {
  const part = side.views.flatMap((one) => one.parts.filter(({ name }) => `${one.name.replace("/", "-")}-${name}` === id).map((found) => ({ ...one, parts: [found] })));
  const covered = side.views.every((one) => !one.parts.length);
  const views = id === "strip" || covered ? [] : part.length ? part : side.views;
  return { ...side, question: "", finding: "", made: "", views: views.map((one) => ({ ...one, heading: "", note: "" })) };
}
