/**
 * Paints the sequence in strokes, and undoes strokes. A stroke is what one drag, key press or preset paints; it is one entry of
 * the browser's history.
 */
import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ViewProps } from '../view.js';
import type { SEQUENCE_FIELDS } from './fields.js';

/** The sequence before each stroke, the newest at the end. The list is kept while other views are shown. */
const before = signal<readonly string[]>([]);

export interface Painting {
  /** 28 digits. */
  readonly actions: string;
  /** Whether there is a stroke to undo. */
  readonly canUndo: boolean;
  /** Begins a stroke that lasts until `endStroke`. All squares that are painted in it are undone together. */
  readonly beginStroke: () => void;
  readonly endStroke: () => void;
  readonly paint: (step: number, action: number) => void;
  /** Returns the newest action of a step, which the page may not have drawn yet. */
  readonly actionAt: (step: number) => number;
  /** Replaces all actions. */
  readonly replace: (actions: string) => void;
  readonly undo: () => void;
}

export function usePainting({ state, change }: ViewProps<typeof SEQUENCE_FIELDS>): Painting {
  /** The newest sequence: several squares may be painted before the page is drawn. */
  const latest = useRef(state.actions);
  latest.current = state.actions;
  const stroke = useRef<'none' | 'begun' | 'painted'>('none');
  const set = (actions: string, mode?: 'push' | 'replace'): void => {
    latest.current = actions;
    change({ actions }, mode);
  };
  const replace = (actions: string): void => {
    if (actions === latest.current) return;
    const isOngoing = stroke.current === 'painted';
    if (!isOngoing) before.value = [...before.value, latest.current];
    if (stroke.current === 'begun') stroke.current = 'painted';
    set(actions, isOngoing ? 'replace' : 'push');
  };
  return {
    actions: state.actions,
    canUndo: before.value.some((actions) => actions !== state.actions),
    beginStroke() {
      stroke.current = 'begun';
    },
    endStroke() {
      stroke.current = 'none';
    },
    paint(step, action) {
      replace(latest.current.slice(0, step) + action + latest.current.slice(step + 1));
    },
    actionAt: (step) => Number(latest.current[step]),
    replace,
    undo() {
      // The browser's back button may have undone strokes already.
      const at = before.value.map((actions) => actions !== latest.current).lastIndexOf(true);
      if (at < 0) return;
      const actions = before.value[at];
      before.value = before.value.slice(0, at);
      set(actions);
    },
  };
}
