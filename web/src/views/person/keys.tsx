/** Keyboard shortcuts. They act once per key press, and not while the user types. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Returns the key of an action: 1 to 9, then 0. */
export const keyOf = (action: number): string => String((action + 1) % 10);

/** Whether shortcuts act, in all views. */
const shortcutsOn = signal(true);

/** @param shortcuts what the keys do, by key in lower case. */
export function useShortcuts(shortcuts: Readonly<Record<string, () => void>>): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // A layout effect, because an effect some frames later could miss the next key.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, repeat, ctrlKey, metaKey, altKey } = event;
      const chosen = latest.current[key.toLowerCase()];
      if (chosen === undefined || !shortcutsOn.value || repeat) return;
      if (ctrlKey || metaKey || altKey || isTyping(event)) return;
      event.preventDefault();
      chosen();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Returns whether the focused element uses letters or digits itself. Sliders, checkboxes and radio buttons do not. */
const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  target.matches('input:not([type="range"], [type="checkbox"], [type="radio"]), select, textarea');

/** @param children what the keys do. */
export const KeysChoice = ({ children }: { readonly children: ComponentChildren }) => (
  <label class="check keys">
    <input
      type="checkbox"
      checked={shortcutsOn.value}
      onChange={({ currentTarget }) => {
        shortcutsOn.value = currentTarget.checked;
      }}
    />
    <span>Keys: {children}</span>
  </label>
);

/** The keys of the ten actions. */
export const ActionKeys = () => (
  <>
    <kbd>1</kbd> to <kbd>9</kbd> and <kbd>0</kbd>
  </>
);
