// What this browser remembers of a reader's handling of the page, such as a height: nothing of a view, which is in the
// link. A browser that forbids storage forgets it with the page.

const PREFIX = "bubbleline.";

export function recall(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // not allowed here, or full
  }
}
