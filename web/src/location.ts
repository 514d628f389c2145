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

/**
 * Changes the state of the view that is shown, and the address with it.
 * @param how 'push' (default) can be gone back from; 'replace' for what changes while a finger is down.
 */
export function change(patch: Readonly<Record<string, unknown>>, how: 'push' | 'replace' = 'push'): void {
  const { view, state } = place.value;
  const { fields } = known.find(({ name }) => name === view)!;
  const next = { ...state, ...patch };
  const address = toAddress(view, fields, next as StateOf<Fields>);
  if (address !== location.hash || place.value.complaints.length > 0) {
    history[how === 'push' ? 'pushState' : 'replaceState'](null, '', address);
  }
  place.value = { view, state: next, complaints: [] };
  remember();
}

/** Forgets what was wrong with the link that was followed, and shows the address of what is seen. */
export const dismissComplaints = (): void => change({}, 'replace');
