/** Holds the address of the page as a signal, changes it, and follows the browser's back and forward buttons. */
import { signal } from '@preact/signals';
import {
  type Addressed,
  type Fields,
  type Parsed,
  parseAddress,
  type StateOf,
  startState,
  toAddress,
} from './address.js';

/** The current address, parsed. */
export const parsedAddress = signal<Parsed>({ view: '', state: {}, problems: [] });

/** The last address of each view. A link to the view restores it. */
const lastAddresses = signal<Readonly<Record<string, string>>>({});

let views: readonly Addressed[] = [];

/** Starts to follow the address. @param all the views; the first one is the default. */
export function followAddress(all: readonly Addressed[]): void {
  views = all;
  addEventListener('popstate', read);
  addEventListener('hashchange', read);
  read();
}

function read(): void {
  clearTimeout(timer);
  timer = undefined;
  pending = location.hash;
  parsedAddress.value = parseAddress(location.hash, views);
  remember();
}

function remember(): void {
  const { view, state } = parsedAddress.value;
  const { fields } = views.find(({ name }) => name === view)!;
  lastAddresses.value = { ...lastAddresses.value, [view]: toAddress(view, fields, state as StateOf<Fields>) };
}

/** Returns the address of a link to a view: the last address of the view, or else that of its start state. */
export const linkTo = ({ name, fields }: Addressed): string =>
  lastAddresses.value[name] ?? toAddress(name, fields, startState(fields));

type Change = (patch: Readonly<Record<string, unknown>>, mode?: 'push' | 'replace') => void;

/**
 * Returns a function that changes the state of a view and the address. The function has no effect while another view is
 * shown, because a field that is removed from the page still sends its last change.
 */
export const changeOf =
  (view: string): Change =>
  (patch, mode) => {
    if (parsedAddress.value.view === view) change(patch, mode);
  };

function change(patch: Readonly<Record<string, unknown>>, mode: 'push' | 'replace' = 'push'): void {
  const { view, state } = parsedAddress.value;
  const { fields } = views.find(({ name }) => name === view)!;
  const next = { ...state, ...patch };
  const address = toAddress(view, fields, next as StateOf<Fields>);
  write(address, mode);
  parsedAddress.value = { view, state: next, problems: [] };
  remember();
}

/** Removes the problems of the link, and writes the address of the current state. */
export const dismissProblems = (): void => change({}, 'replace');

/**
 * Milliseconds between two writes of the address, unless the second adds a history entry. Browsers limit the writes per
 * second, and a dragged slider would reach the limit.
 */
const WRITE_INTERVAL = 250;

/** The address to be written. After the write it is equal to the browser's. */
let pending = '';
let timer: ReturnType<typeof setTimeout> | undefined;

function write(address: string, mode: 'push' | 'replace'): void {
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
