// What the browser keeps for us between visits. It may refuse to, and then forgets with the page.

/**
 * @param {string} key in localStorage
 * @returns {any} what was stored there; null for nothing, or what is no value of ours
 */
export function stored(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

/**
 * @param {string} key in localStorage
 * @param {any} value null to forget it
 */
export function store(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // then it is forgotten with the page
  }
}
