/** The browser's storage, which lasts between visits. A browser may refuse it by throwing; then texts last until the page is closed. */

/** Returns a stored text; null if there is none, or if the browser refuses. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(`rhythm-vec.${key}`);
  } catch {
    return null;
  }
}

/** Stores a text, unless the browser refuses or its limit is reached. */
export function store(key: string, text: string): void {
  try {
    localStorage.setItem(`rhythm-vec.${key}`, text);
  } catch {
    // The caller keeps the text in memory.
  }
}
