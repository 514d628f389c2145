/** How much room there is for a picture. */
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Drawings are made for whole steps of so many pixels, so that few are drawn while a window is resized. */
const STEP = 20;

/** The width of an element in CSS pixels, rounded down; null before it is known. */
export function useRoom(place: RefObject<HTMLElement | null>): number | null {
  const room = useSignal<number | null>(null);
  useLayoutEffect(() => {
    const element = place.current!;
    const measure = () => {
      const width = Math.floor(element.clientWidth / STEP) * STEP;
      if (width > 0) room.value = width;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [place, room]);
  return room.value;
}
