/** The colour scheme, light or dark: the chosen one, or the one that the system prefers. */
import { computed, effect, signal } from '@preact/signals';

export const TONES = ['auto', 'light', 'dark'] as const;
export type Tone = (typeof TONES)[number];

const KEY = 'rhythm-vec.tone';

/** The chosen scheme. */
export const tone = signal<Tone>(readChoice());

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = signal(prefersDark.matches);

/** The scheme in use. */
export const currentTone = computed<'light' | 'dark'>(() =>
  tone.value === 'auto' ? (systemIsDark.value ? 'dark' : 'light') : tone.value,
);

/** Applies the scheme to the document, now and after each change. */
export function followTone(): void {
  prefersDark.addEventListener('change', ({ matches }) => {
    systemIsDark.value = matches;
  });
  effect(() => {
    document.documentElement.dataset.tone = currentTone.value;
    storeChoice(tone.value);
  });
}

/** Reads the stored choice. A browser may refuse storage by throwing. */
function readChoice(): Tone {
  try {
    return TONES.find((name) => name === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function storeChoice(chosen: Tone): void {
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}
