/** Keys that do what buttons do, once a press, unless somebody types. */
import { useLayoutEffect, useRef } from 'preact/hooks';

/** By key, lower case. */
export type Shortcuts = Readonly<Record<string, () => void>>;

export function useShortcuts(enabled: boolean, shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // With the page that says so, not some frames later: the very next key may come at once.
  useLayoutEffect(() => {
    if (!enabled) return;
    const onKey = (event: KeyboardEvent): void => {
      const chosen = latest.current[event.key.toLowerCase()];
      if (
        chosen === undefined ||
        event.repeat ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isTyping(event)
      )
        return;
      event.preventDefault();
      chosen();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [enabled]);
}

/** A select finds its options by their letters; a slider takes no letter and no digit. */
const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  target.matches('input:not([type="range"], [type="checkbox"]), select, textarea');
