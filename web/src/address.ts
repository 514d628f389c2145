/**
 * The part of the address after `#`, such as `crowd?people=1000&seed=7`, which holds the state of a view. That part never leaves the
 * browser, so any file server can serve the page.
 */
import { signal } from '@preact/signals';
import { grouped } from './words.js';

/** One value of a view's state. */
export interface Field<T> {
  /** The default value. An address leaves it out. */
  readonly initial: T;
  /** The value in a view that is opened without a link. Default: `initial`, which links without the field keep. */
  readonly start?: T;
  /** Describes the valid values as a noun phrase, which completes "Expected ..." and "... is expected". */
  readonly expected: string;
  /** Parses a text; null if it is invalid. */
  read(text: string): T | null;
  write(value: T): string;
}

/** The fields of a view's state, by name. */
// biome-ignore lint/suspicious/noExplicitAny: a field is used with its own type only.
export type Fields = Readonly<Record<string, Field<any>>>;

export type StateOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** What the component of a view gets. */
export interface ViewProps<F extends Fields> {
  /** The state from the address; always valid. */
  readonly state: StateOf<F>;
  /**
   * Changes part of the state, and the address.
   * @param mode 'push' (default) adds an entry to the history; 'replace' does not, for changes while a slider is dragged.
   */
  readonly change: (patch: Partial<StateOf<F>>, mode?: 'push' | 'replace') => void;
}

/** Returns a field. @param expected, read, write as in Field. */
export const fieldOf = <T>(
  initial: T,
  expected: string,
  read: Field<T>['read'],
  write: Field<T>['write'] = String,
): Field<T> => ({ initial, expected, read, write });

/** A field for a whole number from `low` to `high`, in decimal digits. */
export const whole = (initial: number, low: number, high: number): Field<number> =>
  fieldOf(initial, `a whole number from ${grouped(low)} to ${grouped(high)}`, (text) =>
    /^\d{1,10}$/.test(text) && Number(text) >= low && Number(text) <= high ? Number(text) : null,
  );

/** A field for one of some names. */
export const oneOf = <const Name extends string>(
  initial: NoInfer<Name>,
  names: readonly Name[],
): Field<Name> =>
  fieldOf<Name>(initial, `one of ${names.join(', ')}`, (text) => names.find((name) => name === text) ?? null);

/** A parsed address: the view, its state, and the problems found. */
export interface Parsed {
  readonly view: string;
  readonly state: Readonly<Record<string, unknown>>;
  /** At most MAX_PROBLEMS different problems; if there are more, also a sentence with the number of the others. */
  readonly problems: readonly string[];
}

/** The name and the fields of a view, which its addresses contain. */
export interface Addressed {
  readonly name: string;
  readonly fields: Fields;
}

/** Returns an object with what `pick` returns for each field. */
const stateOf = <F extends Fields>(fields: F, pick: (field: F[string]) => unknown): StateOf<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, pick(field as F[string])]),
  ) as StateOf<F>;

/** Returns the state of a view that is opened without a link. */
export const startState = <F extends Fields>(fields: F): StateOf<F> =>
  stateOf(fields, ({ initial, start = initial }) => start);

/** Returns the state of a link without fields. */
const initialState = <F extends Fields>(fields: F): StateOf<F> => stateOf(fields, ({ initial }) => initial);

/**
 * Parses the part of the address after `#`. Invalid parts are ignored and reported in `problems`.
 * @param views the first one is the default.
 */
export function parseAddress(fragment: string, views: readonly Addressed[]): Parsed {
  const [name, query = ''] = fragment.replace(/^#/, '').split(/\?(.*)/s);
  const view = views.find((candidate) => candidate.name === name);
  const target = view ?? views[0];
  const problems: string[] = [];
  if (view === undefined && name !== '') {
    const names = views.map((candidate) => candidate.name).join(', ');
    problems.push(
      `This link asks for the view ${quoted(name)}, which does not exist. The views are ${names}; ${target.name} is shown.`,
    );
    return { view: target.name, state: startState(target.fields), problems };
  }
  const state: Record<string, unknown> =
    query === '' ? startState(target.fields) : initialState(target.fields);
  for (const [key, text] of new URLSearchParams(query)) {
    const problem = readPair(target.fields, state, key, text);
    if (problem !== null) problems.push(problem);
  }
  return { view: target.name, state, problems: firstFew(problems) };
}

/** The maximum number of problems that are shown; a link may have thousands. */
const MAX_PROBLEMS = 5;

/** Removes duplicates, and replaces the problems beyond MAX_PROBLEMS by their number. */
function firstFew(problems: readonly string[]): string[] {
  const different = [...new Set(problems)];
  const more = different.splice(MAX_PROBLEMS).length;
  const are = more === 1 ? 'problem is' : 'problems are';
  return more === 0 ? different : [...different, `${grouped(more)} further ${are} not listed.`];
}

/** Parses one pair into `state`. @returns the problem, or null. */
function readPair(fields: Fields, state: Record<string, unknown>, key: string, text: string): string | null {
  if (!Object.hasOwn(fields, key)) {
    return `This link has ${quoted(key)}, which is no setting of this view. It is ignored.`;
  }
  const field = fields[key];
  const value = field.read(text);
  if (value === null) {
    const { initial } = field;
    const instead = typeof initial === 'number' ? grouped(initial) : field.write(initial);
    return (
      `This link has ${key} = ${quoted(text)}, where ${field.expected} is expected. ` +
      `${instead || 'Nothing'} is used instead.`
    );
  }
  state[key] = value;
  return null;
}

/** Quotes at most the first 40 characters of a text of the address, which may be of any length. */
const quoted = (text: string): string => `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;

/**
 * Returns the address of a view in a state, from the `#` on, without the fields that have their initial value. The address of
 * the start state is the view's name alone.
 */
export function toAddress<F extends Fields>(view: string, fields: F, state: StateOf<F>): string {
  const texts = (of: StateOf<F>): [string, string][] =>
    Object.entries(fields).map(([name, field]) => [name, field.write(of[name])]);
  const [initial, start] = [texts(initialState(fields)), texts(startState(fields))];
  const all = texts(state);
  if (all.every(([, text], k) => text === start[k][1])) return `#${view}`;
  const changed = all.filter(([, text], k) => text !== initial[k][1]);
  // Without any field, the address would be that of the start state.
  const written = changed.length > 0 ? changed : all.filter((_, k) => initial[k][1] !== start[k][1]);
  // Commas are valid in this part of an address, and keep links readable.
  const pairs = written.map(([name, text]) => `${name}=${encodeURIComponent(text).replaceAll('%2C', ',')}`);
  return `#${view}?${pairs.join('&')}`;
}

/** The current address, parsed. */
export const parsedAddress = signal<Parsed>({ view: '', state: {}, problems: [] });

/** The last address of each view. A link to the view restores it. */
const lastAddresses = signal<Readonly<Record<string, string>>>({});

let views: readonly Addressed[] = [];

/** Starts to follow the address. @param all the views; the first one is the default. */
export function followAddress(all: readonly Addressed[]): void {
  views = all;
  addEventListener('popstate', readAddress);
  addEventListener('hashchange', readAddress);
  readAddress();
}

function readAddress(): void {
  clearTimeout(timer);
  timer = undefined;
  pending = location.hash;
  parsedAddress.value = parseAddress(location.hash, views);
  rememberAddress();
}

/** Returns the address of the current state, and remembers it for links. */
function rememberAddress(): string {
  const { view, state } = parsedAddress.value;
  const { fields } = views.find(({ name }) => name === view)!;
  const address = toAddress(view, fields, state);
  lastAddresses.value = { ...lastAddresses.value, [view]: address };
  return address;
}

/** Returns the address of a link to a view: the last address of the view, or else that of its start state. */
export const linkTo = ({ name, fields }: Addressed): string =>
  lastAddresses.value[name] ?? toAddress(name, fields, startState(fields));

/**
 * Returns a function that changes the state of a view and the address. The function has no effect while another view is
 * shown, because a field that is removed from the page still sends its last change.
 */
export const changeOf =
  (view: string): ViewProps<Fields>['change'] =>
  (patch, mode = 'push') => {
    const { value } = parsedAddress;
    if (value.view !== view) return;
    parsedAddress.value = { view, state: { ...value.state, ...patch }, problems: [] };
    writeAddress(rememberAddress(), mode);
  };

/** Removes the problems of the link, and writes the address of the current state. */
export const dismissProblems = (): void => changeOf(parsedAddress.value.view)({}, 'replace');

/**
 * Milliseconds between two writes of the address, unless the second adds a history entry. Browsers limit the writes per
 * second, and a dragged slider would reach the limit.
 */
const WRITE_INTERVAL = 250;

/** The address to be written. After the write it is equal to the browser's. */
let pending = '';
let timer: ReturnType<typeof setTimeout> | undefined;

function writeAddress(address: string, mode: 'push' | 'replace'): void {
  if (mode === 'push' && address !== pending) {
    // Updates the current history entry before another one is added.
    flushAddress();
    tryHistory('pushState', address);
  }
  pending = address;
  if (timer === undefined) flushAddress();
}

/** Writes the pending address now, and again until the browser accepts it. Links call it before they are followed. */
export function flushAddress(): void {
  clearTimeout(timer);
  timer = undefined;
  if (location.hash === pending) return;
  tryHistory('replaceState', pending);
  timer = setTimeout(flushAddress, WRITE_INTERVAL);
}

/**
 * Changes the browser's history. Browsers limit such changes per second: beyond the limit some ignore the call, others throw.
 */
function tryHistory(method: 'pushState' | 'replaceState', address: string): void {
  try {
    history[method](null, '', address);
  } catch {
    // The timer of flushAddress tries again.
  }
}
