/** Light or dark: what was chosen, or what the screen's owner prefers. */
import { computed, effect, signal } from '@preact/signals';

export const TONES = ['auto', 'light', 'dark'] as const;
export type Tone = (typeof TONES)[number];

const KEY = 'rhythm-vec.tone';

/** What was chosen. */
export const tone = signal<Tone>(stored());

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const screenIsDark = signal(prefersDark.matches);

/** What is shown. */
export const shownTone = computed<'light' | 'dark'>(() =>
  tone.value === 'auto' ? (screenIsDark.value ? 'dark' : 'light') : tone.value,
);

/** Keeps the document in it. */
export function followTone(): void {
  prefersDark.addEventListener('change', ({ matches }) => {
    screenIsDark.value = matches;
  });
  effect(() => {
    document.documentElement.dataset.tone = shownTone.value;
    store(tone.value);
  });
}

/** A browser may keep nothing for this page, and say so by throwing. */
function stored(): Tone {
  try {
    return TONES.find((name) => name === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function store(chosen: Tone): void {
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // It holds until the page is closed, then.
  }
}
