// What the browser keeps for us between visits. It may refuse to, and then forgets with the page.

/** The key of the seat in a room that this browser holds, {word, name, token}: a person who comes back has the same one. */
export const SEAT = "bert-seat";

/** What was stored there (sessionStorage is forgotten with the tab); null for nothing, or what is no value of ours. */
export function stored(key, storage = "localStorage") {
  try {
    return JSON.parse(window[storage].getItem(key));
  } catch {
    return null;
  }
}

/** Store a value there, null to forget it. */
export function store(key, value, storage = "localStorage") {
  try {
    window[storage].setItem(key, JSON.stringify(value));
  } catch {
    // then it is forgotten with the page
  }
}
