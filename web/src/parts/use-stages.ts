/** Shows a value in parts of the page (stages), each drawn in a task of its own, so that no task blocks the page for long. */
import { useLayoutEffect, useState } from 'preact/hooks';

/**
 * Returns what each of `count` stages shows. The stages show a new value one by one. Until its turn a stage shows the previous
 * value, or null if there was none.
 */
export function useStages<T>(value: T | null, count: number): readonly (T | null)[] {
  const [shown, setShown] = useState<readonly (T | null)[]>(() => new Array<T | null>(count).fill(null));
  const next = shown.findIndex((each) => each !== value);
  useLayoutEffect(() => {
    if (next < 0) return;
    const timer = setTimeout(() => setShown(shown.map((each, stage) => (stage === next ? value : each))));
    return () => clearTimeout(timer);
  }, [shown, next, value]);
  return shown;
}
