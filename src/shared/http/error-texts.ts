/** Reads what went wrong: the causes of an error, and error bodies, whose shapes differ between services. */

/** The fields read from an error. Libraries throw many classes, and some throw values that are not errors. */
export interface Cause {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

/**
 * Returns an error, its cause, the members of an AggregateError, the causes of these and so on, each once. [] for a value that
 * is not an object.
 */
export function causesOf(error: unknown): Cause[] {
  const causes: Cause[] = [];
  const stack = [error];
  while (stack.length > 0) {
    const next = stack.pop();
    if (typeof next !== 'object' || next === null || causes.includes(next)) continue;
    causes.push(next);
    const { cause, errors } = next as { cause?: unknown; errors?: unknown };
    // The stack is last in, first out: the cause comes before the members of an AggregateError.
    stack.push(...(Array.isArray(errors) ? [...errors].reverse() : []), cause);
  }
  return causes;
}

/**
 * The fields that may hold the message of an error, in the order in which they are read. `metadata` comes first: there
 * OpenRouter quotes the error of a model's provider. `error` comes after `message`: beside one it only names the status.
 */
const PLACES = 'metadata raw message detail error errors msg error_description title'.split(' ');

/** Matches the title of HTML, or the code in the XML of a file storage. */
const HEADING = /<(?:title|TITLE|Code)\b[^<>]*>([^<]+)</;

/** Parses an error body as JSON. @returns the text itself if it is not JSON. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Returns the message of a parsed error body: the first text at one of PLACES, at any depth, otherwise the body as JSON. Of
 * HTML and XML: the title or the code, otherwise the text. '' for an empty body.
 */
export const messageIn = (body: unknown): string =>
  textIn(body) || (typeof body === 'string' ? '' : JSON.stringify(body));

/** Returns the text in a value; '' for none. */
function textIn(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.trim();
    return (text.startsWith('<') && HEADING.exec(text)?.[1].trim()) || text;
  }
  if (Array.isArray(value)) {
    const texts = value.map(textIn);
    return texts.filter((text) => text !== '').join('; ');
  }
  if (typeof value !== 'object' || value === null) return '';
  const fields = value as Readonly<Record<string, unknown>>;
  for (const place of PLACES) {
    const text = textIn(fields[place]);
    if (text !== '') return `${fieldIn(fields)}${text}`;
  }
  return '';
}

/** Returns the invalid field that an error of FastAPI names, such as "body.max_tokens: "; '' for other errors. */
function fieldIn({ loc }: Readonly<Record<string, unknown>>): string {
  const keys = Array.isArray(loc)
    ? loc.filter((key) => typeof key === 'string' || typeof key === 'number')
    : [];
  return keys.length === 0 ? '' : `${keys.join('.')}: `;
}

/** Returns all values of a field, at any depth. */
export function valuesOf(body: unknown, name: string): unknown[] {
  const found: unknown[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Object.hasOwn(value, name)) found.push((value as Readonly<Record<string, unknown>>)[name]);
    for (const inside of Object.values(value)) visit(inside);
  };
  visit(body);
  return found;
}
