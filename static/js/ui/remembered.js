// What this browser remembers of a reader's handling of the page, such as a height: nothing of a view, which is in the
// link. A browser that forbids storage forgets it with the page.

const PREFIX = "bubbleline.";

/** @param {string} name @returns {string | null} */
export function recall(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // not allowed here, or full
  }
}
