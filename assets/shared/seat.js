// The seat in a room that this browser holds: kept, so that a person who comes back has the same one.

const KEPT = "bert-seat"; // key in localStorage

/** @returns {{word: string, name: string, token: string} | null} */
export function keptSeat() {
  try {
    return JSON.parse(localStorage.getItem(KEPT));
  } catch {
    return null; // the browser refuses storage, or holds something else
  }
}

/** @param {ReturnType<typeof keptSeat>} value null to forget it */
export function keepSeat(value) {
  try {
    if (value) localStorage.setItem(KEPT, JSON.stringify(value));
    else localStorage.removeItem(KEPT);
  } catch {
    // then the seat is forgotten with the page
  }
}
