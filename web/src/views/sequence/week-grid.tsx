/** The 28 squares of a week, which are painted by pointer, touch or keyboard, and undone stroke by stroke. */
import { type Signal, signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { NUM_SLOTS, NUM_STEPS } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import type { ViewProps } from '../../address.js';
import { title } from '../../person/descriptions.js';
import type { SEQUENCE_FIELDS } from '../fields.js';
import { keyOf } from '../person/keys.js';

/** The sequence before each stroke, the newest at the end. The list is kept while other views are shown. */
const before = signal<readonly string[]>([]);

export type Painting = ReturnType<typeof usePainting>;

export function usePainting({ state, change }: ViewProps<typeof SEQUENCE_FIELDS>) {
  /** The newest sequence: several squares may be painted before the page is drawn. */
  const latest = useRef(state.actions);
  latest.current = state.actions;
  const stroke = useRef<'none' | 'begun' | 'painted'>('none');
  const set = (actions: string, mode?: 'push' | 'replace'): void => {
    latest.current = actions;
    change({ actions }, mode);
  };
  /** Replaces all actions. */
  const replace = (actions: string): void => {
    if (actions === latest.current) return;
    const isOngoing = stroke.current === 'painted';
    if (!isOngoing) before.value = [...before.value, latest.current];
    if (stroke.current === 'begun') stroke.current = 'painted';
    set(actions, isOngoing ? 'replace' : 'push');
  };
  return {
    /** 28 digits. */
    actions: state.actions,
    /** Whether there is a stroke to undo. */
    canUndo: before.value.some((actions) => actions !== state.actions),
    /** Begins a stroke that lasts until `endStroke`. All squares that are painted in it are undone together. */
    beginStroke(): void {
      stroke.current = 'begun';
    },
    isStroke: (): boolean => stroke.current !== 'none',
    endStroke(): void {
      stroke.current = 'none';
    },
    paint: (step: number, action: number): void =>
      replace(latest.current.slice(0, step) + action + latest.current.slice(step + 1)),
    /** Returns the newest action of a step, which the page may not have drawn yet. */
    actionAt: (step: number): number => Number(latest.current[step]),
    replace,
    undo(): void {
      // The browser's back button may have undone strokes already.
      const at = before.value.map((actions) => actions !== latest.current).lastIndexOf(true);
      if (at < 0) return;
      const actions = before.value[at];
      before.value = before.value.slice(0, at);
      set(actions);
    },
  };
}

const DAYS = Array.from({ length: RHYTHM.days }, (_, day) => `Day ${day + 1}`);
const ACTION_BY_KEY = new Map(ACTION_STYLES.map((_, code) => [keyOf(code), code]));

interface WeekGridProps {
  readonly painting: Painting;
  /** The action to paint with, a code of ACTION_NAMES. */
  readonly brush: Signal<number>;
}

export function WeekGrid({ painting, brush }: WeekGridProps) {
  const grid = useRef<HTMLTableElement>(null);
  /** The square that the Tab key reaches. */
  const current = useSignal(0);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = press(event, current.value, painting, brush);
    if (step === null) return;
    event.preventDefault();
    event.stopPropagation();
    grid.current!.querySelector<HTMLElement>(`[data-step="${step}"]`)!.focus();
  };
  return (
    <table
      class="week-grid"
      ref={grid}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: ARIA's grid pattern on a table.
      role="grid"
      aria-label="The week"
      aria-describedby="how-to-paint"
      onKeyDown={onKeyDown}
      {...pointerHandlers(painting, brush)}
    >
      <thead>
        <tr>
          <th scope="col">
            <span class="visually-hidden">Slot</span>
          </th>
          {DAYS.map((day) => (
            <th key={day} scope="col">
              {day}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {RHYTHM.slots.map((slot, row) => (
          <tr key={slot}>
            <th scope="row" data-short={title(slot)[0]}>
              <span class="long">{title(slot)}</span>
            </th>
            {DAYS.map((day, column) => (
              <Square
                key={day}
                step={column * NUM_SLOTS + row}
                action={Number(painting.actions[column * NUM_SLOTS + row])}
                label={`${day} ${slot}`}
                current={current}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SquareProps {
  readonly step: number;
  readonly action: number;
  readonly label: string;
  readonly current: Signal<number>;
}

function Square({ step, action, label, current }: SquareProps) {
  const { action: name, mark, colour } = ACTION_STYLES[action];
  return (
    <td
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: ARIA's grid pattern on a table.
      role="gridcell"
      data-step={step}
      data-short={mark}
      tabIndex={step === current.value ? 0 : -1}
      aria-label={`${label}: ${title(name)}`}
      style={{ background: colour }}
      onFocus={() => {
        current.value = step;
      }}
    >
      <span class="long">{title(name)}</span>
    </td>
  );
}

/** Returns the handlers of the grid for strokes of a pointer or a finger. */
function pointerHandlers(painting: Painting, brush: Signal<number>) {
  const paintAt = ({ clientX, clientY }: PointerEvent): void => {
    const step = stepAt(clientX, clientY);
    if (step !== null) painting.paint(step, brush.value);
  };
  return {
    onPointerDown(event: PointerEvent): void {
      if (!event.isPrimary || event.button !== 0 || stepAt(event.clientX, event.clientY) === null) return;
      painting.beginStroke();
      paintAt(event);
    },
    onPointerMove(event: PointerEvent): void {
      if (!event.isPrimary || !painting.isStroke()) return;
      // The button may have been released outside the window.
      if (event.buttons === 0) {
        painting.endStroke();
        return;
      }
      const moves = event.getCoalescedEvents?.() ?? [];
      for (const move of moves.length === 0 ? [event] : moves) paintAt(move);
    },
    onPointerUp: painting.endStroke,
    onPointerCancel: painting.endStroke,
  };
}

/**
 * Returns the step of the square at a place of the window; null for none. The target of an event is no help: for a finger it
 * is the square where the touch began.
 */
function stepAt(x: number, y: number): number | null {
  const square = document.elementFromPoint(x, y)?.closest<HTMLElement>('.week-grid [data-step]');
  return square == null ? null : Number(square.dataset.step);
}

/** Handles a key. @returns the step of the square that gets the focus; null if the grid does not use the key. */
function press(event: KeyboardEvent, step: number, painting: Painting, brush: Signal<number>): number | null {
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
  if ((ctrlKey || metaKey) && key.toLowerCase() === 'z') {
    painting.undo();
    return step;
  }
  if (altKey || metaKey) return null;
  const action = ACTION_BY_KEY.get(key);
  if (action !== undefined && !ctrlKey) brush.value = action;
  if ((action !== undefined && !ctrlKey) || key === ' ' || key === 'Enter') {
    painting.paint(step, brush.value);
    return step;
  }
  const to = moved(step, key, ctrlKey);
  if (to !== null && shiftKey) painting.paint(to, painting.actionAt(step));
  return to;
}

/**
 * Returns the step that a key moves to; null for other keys. Days are side by side, and slots below each other.
 * @param toEnds whether Home and End go to the ends of the week instead of the row.
 */
function moved(step: number, key: string, toEnds: boolean): number | null {
  const [day, slot] = [Math.floor(step / NUM_SLOTS), step % NUM_SLOTS];
  if (key === 'Home') return toEnds ? 0 : slot;
  if (key === 'End') return toEnds ? NUM_STEPS - 1 : NUM_STEPS - NUM_SLOTS + slot;
  const [days, slots] = ARROWS[key] ?? [0, 0];
  if (days === 0 && slots === 0) return null;
  const within = (value: number, end: number): number => Math.min(end - 1, Math.max(0, value));
  return within(day + days, DAYS.length) * NUM_SLOTS + within(slot + slots, NUM_SLOTS);
}

const ARROWS: Readonly<Record<string, readonly [days: number, slots: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The actions to paint with. */
export const Palette = ({ brush }: Pick<WeekGridProps, 'brush'>) => (
  <fieldset class="palette">
    <legend class="fine">Paint with</legend>
    {ACTION_STYLES.map(({ action, mark, colour }, code) => (
      <label key={action}>
        <input
          type="radio"
          name="brush"
          checked={brush.value === code}
          onChange={() => {
            brush.value = code;
          }}
        />
        <span style={{ borderLeftColor: colour }}>
          {title(action)}
          <span class="cap" aria-hidden="true">
            {keyOf(code)}
          </span>
          <span class="letter" aria-hidden="true">
            {mark}
          </span>
        </span>
      </label>
    ))}
  </fieldset>
);
