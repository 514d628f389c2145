/** The colour scheme, light or dark: the user's choice, or else the system's preference. */
import { computed, effect, signal } from '@preact/signals';
import { POLICY_COLOURS, POLICY_KINDS } from '../../src/figures/theme.js';
import { readStored, store } from './storage.js';
import { variableOf } from './words.js';

export const COLOUR_SCHEMES = ['auto', 'light', 'dark'] as const;
type ColourScheme = (typeof COLOUR_SCHEMES)[number];

const KEY = 'colour-scheme';

/** The chosen scheme; 'auto' follows the system's preference. */
export const colourScheme = signal<ColourScheme>(
  COLOUR_SCHEMES.find((name) => name === readStored(KEY)) ?? 'auto',
);

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = signal(prefersDark.matches);

/** The scheme that the page shows. */
const currentScheme = computed<'light' | 'dark'>(() =>
  colourScheme.value === 'auto' ? (systemIsDark.value ? 'dark' : 'light') : colourScheme.value,
);

/** Applies the scheme to the document and stores the choice, now and after each change. */
export function followScheme(): void {
  prefersDark.addEventListener('change', ({ matches }) => {
    systemIsDark.value = matches;
  });
  effect(() => {
    const { dataset, style } = document.documentElement;
    dataset.scheme = currentScheme.value;
    for (const kind of POLICY_KINDS)
      style.setProperty(variableOf(kind), POLICY_COLOURS[kind][currentScheme.value]);
    store(KEY, colourScheme.value);
  });
}
