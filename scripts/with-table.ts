/** Replaces a generated part of a page: the text between `<!-- NAME -->` and `<!-- /NAME -->`. */

/**
 * Returns the page with a new text in the part `name`. @param table the new text. @param path names the page in errors.
 * @throws Error if the page lacks the comments.
 */
export function withTable(page: string, name: string, table: string, path: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(open), page.indexOf(close)];
  if (from < 0 || to < from)
    throw new Error(`Expected ${open} and ${close} in ${path}, got a page without them.`);
  return `${page.slice(0, from + open.length)}\n\n${table}\n\n${page.slice(to)}`;
}
