/** Where the page is: the address as signals, and the way to other addresses. Back and forward work. */
import { signal } from '@preact/signals';
import {
  type Addressed,
  type Fields,
  initialState,
  type Parsed,
  parseAddress,
  type StateOf,
  toAddress,
} from './address.js';

/** What the address says now. */
export const place = signal<Parsed>({ view: '', state: {}, complaints: [] });

/** The address that each view was last left at: who comes back finds it as it was. */
const left = signal<Readonly<Record<string, string>>>({});

let known: readonly Addressed[] = [];

/** Begins to follow the address. @param views that there are; the first is shown where none is named. */
export function followAddress(views: readonly Addressed[]): void {
  known = views;
  addEventListener('popstate', read);
  addEventListener('hashchange', read);
  read();
}

function read(): void {
  clearTimeout(resting);
  resting = undefined;
  wanted = location.hash;
  place.value = parseAddress(location.hash, known);
  remember();
}

function remember(): void {
  const { view, state } = place.value;
  const { fields } = known.find(({ name }) => name === view)!;
  left.value = { ...left.value, [view]: toAddress(view, fields, state as StateOf<Fields>) };
}

/** Where a link to a view leads: to it as it was left. */
export const linkTo = ({ name, fields }: Addressed): string =>
  left.value[name] ?? toAddress(name, fields, initialState(fields));

type Change = (patch: Readonly<Record<string, unknown>>, how?: 'push' | 'replace') => void;

/**
 * What changes the state of a view, and the address with it, while it is shown. A view that goes changes nothing any
 * more: a field that is removed still tells what was typed into it.
 */
export const changeOf =
  (view: string): Change =>
  (patch, how) => {
    if (place.value.view === view) change(patch, how);
  };

function change(patch: Readonly<Record<string, unknown>>, how: 'push' | 'replace' = 'push'): void {
  const { view, state } = place.value;
  const { fields } = known.find(({ name }) => name === view)!;
  const next = { ...state, ...patch };
  const address = toAddress(view, fields, next as StateOf<Fields>);
  write(address, how);
  place.value = { view, state: next, complaints: [] };
  remember();
}

/** Forgets what was wrong with the link that was followed, and shows the address of what is seen. */
export const dismissComplaints = (): void => change({}, 'replace');

/**
 * Milliseconds between two addresses of one place. Browsers take so many of them in some seconds, and drop or refuse what
 * is more: a slider that is dragged would have used them all up.
 */
const REST = 250;

/** What the address ought to be; it is, unless it changed a moment ago. */
let wanted = '';
let resting: ReturnType<typeof setTimeout> | undefined;

function write(address: string, how: 'push' | 'replace'): void {
  if (how === 'push' && address !== wanted) {
    // The place that is left keeps the last that was wanted of it.
    settle();
    tryTo('pushState', address);
  }
  wanted = address;
  if (resting === undefined) settle();
}

/** Writes what is wanted, until the browser has taken it. Who is about to go elsewhere does not wait for that. */
export function settle(): void {
  clearTimeout(resting);
  resting = undefined;
  if (location.hash === wanted) return;
  tryTo('replaceState', wanted);
  resting = setTimeout(settle, REST);
}

/** Some browsers drop what is too much, others throw. */
function tryTo(method: 'pushState' | 'replaceState', address: string): void {
  try {
    history[method](null, '', address);
  } catch {
    // It is tried again.
  }
}
