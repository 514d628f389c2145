/**
 * A view's state in the address, as what follows its `#`: `crowd?people=1000&seed=7`. It never leaves the browser, and
 * any server of files can serve the page. Pure text: whoever shows it is location.ts.
 */

/** One value of a view's state. */
export interface Field<T> {
  /** Where the address says nothing. It is not written. */
  readonly initial: T;
  /** What is legal, in words that follow "expected". */
  readonly expected: string;
  /** Null for a text that is none. */
  read(text: string): T | null;
  write(value: T): string;
}

/** A view's state by name: what a link can say of it. */
// biome-ignore lint/suspicious/noExplicitAny: a field is used with its own type only.
export type Fields = Readonly<Record<string, Field<any>>>;

export type StateOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** A whole number in decimal digits, both ends included. */
export function whole(initial: number, low: number, high: number): Field<number> {
  return {
    initial,
    expected: `a whole number from ${low.toLocaleString('en')} to ${high.toLocaleString('en')}`,
    read: (text) =>
      /^\d{1,10}$/.test(text) && Number(text) >= low && Number(text) <= high ? Number(text) : null,
    write: String,
  };
}

/** One of some names. */
export function oneOf<const Name extends string>(
  initial: NoInfer<Name>,
  names: readonly Name[],
): Field<Name> {
  return {
    initial,
    expected: `one of ${names.join(', ')}`,
    read: (text) => names.find((name) => name === text) ?? null,
    write: (name) => name,
  };
}

/** What an address says: which view, what of its state, and what was wrong with it. */
export interface Parsed {
  readonly view: string;
  readonly state: Readonly<Record<string, unknown>>;
  /** Sentences for whoever followed the link. */
  readonly complaints: readonly string[];
}

/** What of a view an address must know. */
export interface Addressed {
  readonly name: string;
  readonly fields: Fields;
}

/** The state that a view begins with. */
export const initialState = <F extends Fields>(fields: F): StateOf<F> =>
  Object.fromEntries(Object.entries(fields).map(([name, { initial }]) => [name, initial])) as StateOf<F>;

/**
 * Reads what follows the `#`. A bad link is no error: what it says and cannot mean is left out, and said.
 * @param views the first is shown where the address names none.
 */
export function parseAddress(fragment: string, views: readonly Addressed[]): Parsed {
  const [name, query = ''] = fragment.replace(/^#/, '').split(/\?(.*)/s);
  const view = views.find((candidate) => candidate.name === name);
  const shown = view ?? views[0];
  const complaints: string[] = [];
  if (view === undefined && name !== '') {
    const known = views.map((candidate) => candidate.name).join(', ');
    complaints.push(
      `This link asks for the view ${quoted(name)}. There are ${known}; this is ${shown.name}.`,
    );
    return { view: shown.name, state: initialState(shown.fields), complaints };
  }
  const state: Record<string, unknown> = { ...initialState(shown.fields) };
  for (const [key, text] of new URLSearchParams(query)) {
    const complaint = take(shown.fields, state, key, text);
    if (complaint !== null) complaints.push(complaint);
  }
  return { view: shown.name, state, complaints: some(complaints) };
}

/** So many that they are read; a link may have thousands. */
const MOST_COMPLAINTS = 5;

/** Each once. */
function some(complaints: readonly string[]): string[] {
  const different = [...new Set(complaints)];
  const left = different.length - MOST_COMPLAINTS;
  if (left <= 0) return different;
  return [...different.slice(0, MOST_COMPLAINTS), `${left.toLocaleString('en')} more were left out.`];
}

/** Notes what one pair says. @returns what is wrong with it, if anything is. */
function take(fields: Fields, state: Record<string, unknown>, key: string, text: string): string | null {
  if (!Object.hasOwn(fields, key)) {
    return `This link has ${quoted(key)}, which this view does not know. It was left out.`;
  }
  const field = fields[key];
  const value = field.read(text);
  if (value === null) {
    const { initial } = field;
    const instead = typeof initial === 'number' ? initial.toLocaleString('en') : field.write(initial);
    return `This link has ${key} = ${quoted(text)}, where ${field.expected} is expected. ${instead || 'Nothing'} is used instead.`;
  }
  state[key] = value;
  return null;
}

/** What is foreign is cut: it may be anything. */
const quoted = (text: string): string => `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;

/** The address of a view in a state, from the `#` on: what is as it begins is left out. */
export function toAddress<F extends Fields>(view: string, fields: F, state: StateOf<F>): string {
  const pairs = Object.entries(fields)
    .map(([name, field]): [string, string, string] => [
      name,
      field.write(state[name]),
      field.write(field.initial),
    ])
    .filter(([, text, initial]) => text !== initial)
    // Commas and plus signs are legal there, and links are read by people.
    .map(([name, text]) => `${name}=${encodeURIComponent(text).replaceAll('%2C', ',')}`);
  return `#${view}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}
