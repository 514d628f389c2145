/** Measures the width available to a picture. */
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/**
 * Widths are multiples of this, in pixels, so that few pictures are drawn while a window is resized. Chosen by hand: a larger
 * step leaves more of the width unused.
 */
const STEP = 20;

/** Returns the width of an element in CSS pixels, rounded down to a multiple of STEP; null before it is known. */
export function useWidth(ref: RefObject<HTMLElement | null>): number | null {
  const width = useSignal<number | null>(null);
  useLayoutEffect(() => {
    const element = ref.current!;
    const measure = () => {
      const available = Math.floor(element.clientWidth / STEP) * STEP;
      if (available > 0) width.value = available;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref, width]);
  return width.value;
}
