// The seat in a room that this browser holds: kept, so that a person who comes back has the same one.
import { store, stored } from "./storage.js";

const KEPT = "bert-seat"; // key in localStorage

/** @returns {{word: string, name: string, token: string} | null} */
export function keptSeat() {
  return stored(KEPT);
}

/** @param {ReturnType<typeof keptSeat>} seat null to forget it */
export function keepSeat(seat) {
  store(KEPT, seat);
}
