/** The type of a measured body or message, and builders of large JSON texts. */

export const MIB = 2 ** 20;

export interface Payload {
  /** The label in the report. */
  readonly what: string;
  readonly path: string;
  /**
   * Builds a body of about this size on demand, because all bodies together would take gigabytes. The functions of some
   * payloads ignore the size.
   */
  readonly body: (mebibytes: number) => Buffer;
  /** The largest size that is passed to `body`, in MiB. */
  readonly maxMib: number;
  /** WebSocket messages that are sent before the measured message. */
  readonly before?: readonly string[];
  readonly isBinary?: boolean;
}

/**
 * The values of `maxMib` for most bodies and for messages. By default the server accepts larger bodies, and refuses longer
 * text messages. 16 is chosen by hand: larger bodies take longer to measure.
 */
export const LIMITS = { body: 16, message: 1 };

/**
 * Returns a body of `head`, as many units as fit (at least one), and `tail`. Omits the last character of the last unit, in most
 * bodies a comma.
 */
export function filled(
  head: string,
  unit: string | ((k: number) => string),
  tail: string,
  mebibytes: number,
): Buffer {
  const room = mebibytes * MIB - head.length - tail.length;
  if (typeof unit === 'string')
    return Buffer.from(head + unit.repeat(Math.max(room / unit.length, 1)).slice(0, -1) + tail);
  const units: string[] = [];
  for (let left = room, k = 0; left > 0 || k === 0; k++) {
    const next = unit(k);
    left -= next.length;
    if (left >= 0 || k === 0) units.push(next);
  }
  return Buffer.from(head + units.join('').slice(0, -1) + tail);
}

/** Returns a `body` function that calls `filled`. */
export const fills =
  (head: string, unit: string | ((k: number) => string), tail: string): Payload['body'] =>
  (mebibytes) =>
    filled(head, unit, tail, mebibytes);

/** Returns a text `count` times, separated by commas. */
export const repeated = (text: string, count: number): string => `${text},`.repeat(count).slice(0, -1);
/** Returns a list nested to this depth. */
export const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
/** Returns the members of an object with this many keys. */
export const keysOf = (count: number): string =>
  Array.from({ length: count }, (_, k) => `"key ${k}":1`).join();

/**
 * Returns a `body` function for columns, with as many rows as would fit if all were as long as row 1.
 * @param entries the JSON of an entry, by column.
 */
export function columns(entries: Readonly<Record<string, (row: number) => string>>): Payload['body'] {
  const rowLength = Object.values(entries).reduce((sum, entry) => sum + entry(1).length + 1, 0);
  return (mebibytes) => {
    const count = Math.max(Math.floor((mebibytes * MIB) / rowLength), 1);
    const lists = Object.entries(entries).map(
      ([name, entry]) => `"${name}":[${Array.from({ length: count }, (_, row) => entry(row)).join()}]`,
    );
    return Buffer.from(`{${lists.join()}}`);
  };
}
