/** The weights as sliders. */
import { useId, useMemo, useRef, useState } from 'preact/hooks';
import { COMPONENT_COLOURS } from '../../../../src/figures/theme.js';
import { COMPONENT_NAMES } from '../../../../src/world/fields.js';
import { type Field, fieldOf } from '../../address.js';
import {
  decimalOf,
  moveWeight,
  PRESETS,
  presetOf,
  rangeOf,
  type Sliders,
  slidersAt,
  toggleLock,
  type Weights,
  WHOLE,
} from '../../graders/weights.js';
import { Fold } from '../../parts/content.js';
import { Choices, TextField } from '../../parts/controls.js';
import { COMPONENT_WORDS } from '../../words.js';

interface WeightsPanelProps {
  readonly weights: Weights;
  readonly change: (weights: Weights, mode: 'push' | 'replace') => void;
}

export function WeightsPanel({ weights, change }: WeightsPanelProps) {
  // The address holds the weights; locks and the weights before the last move are kept here.
  const [stored, setStored] = useState(slidersAt(weights));
  const isStored = stored.weights.every((weight, k) => weight === weights[k]);
  const sliders = isStored ? stored : slidersAt(weights, stored.locked);
  const set = (next: Sliders, mode: 'push' | 'replace' = 'push'): void => {
    setStored(next);
    change(next.weights, mode);
  };
  /** Whether a slider is being dragged, or moved by a held key. The whole movement becomes one entry of the history. */
  const heldRef = useRef(false);
  const slide = (k: number, to: number): void => {
    set(moveWeight(sliders, k, to), heldRef.current ? 'replace' : 'push');
    heldRef.current = true;
  };
  const hold = (isHeld: boolean): void => {
    heldRef.current = isHeld;
  };
  const type = (k: number, to: number): void => set(moveWeight(slidersAt(weights, sliders.locked), k, to));
  const lock = (k: number): void => setStored(toggleLock(sliders, k));
  return (
    <section class="panel weights" aria-labelledby="grader">
      <div class="head">
        <h2 id="grader">The grader</h2>
        <Choices
          legend="Presets"
          choices={PRESETS.map((preset) => [
            preset.name,
            preset.name === presetOf(weights)?.name,
            () => set(slidersAt(preset.weights, sliders.locked)),
          ])}
        />
      </div>
      {COMPONENT_NAMES.map((name, k) => (
        <WeightRow key={name} k={k} sliders={sliders} slide={slide} hold={hold} />
      ))}
      <Fold title="Exact weights, and locks">
        {COMPONENT_NAMES.map((name, k) => (
          <ExactWeight key={name} k={k} sliders={sliders} type={type} lock={lock} />
        ))}
        <p class="fine">
          The weights always sum to {decimalOf(WHOLE)}: when one moves, the others that are not locked share
          the rest in their proportions.
        </p>
      </Fold>
    </section>
  );
}

interface WeightRowProps {
  readonly k: number;
  readonly sliders: Sliders;
  /** Moves weight k to `to` thousandths, by the slider. */
  readonly slide: (k: number, to: number) => void;
  /** Reports whether a key is held; false when a movement of the slider ends. */
  readonly hold: (isHeld: boolean) => void;
}

function WeightRow({ k, sliders, slide, hold }: WeightRowProps) {
  const id = useId();
  const weight = sliders.weights[k];
  const { low, high } = rangeOf(sliders, k);
  return (
    <div class="weight">
      <label for={id}>
        <span class="chip" style={{ background: COMPONENT_COLOURS[k] }} />
        {COMPONENT_WORDS[COMPONENT_NAMES[k]].name}
      </label>
      <input
        id={id}
        type="range"
        min="0"
        max={WHOLE}
        step="5"
        value={weight}
        disabled={low === high}
        aria-valuetext={decimalOf(weight)}
        onInput={({ currentTarget }) => slide(k, Number(currentTarget.value))}
        onKeyDown={({ repeat }) => hold(repeat)}
        onChange={() => hold(false)}
      />
      <output for={id}>{decimalOf(weight)}</output>
    </div>
  );
}

interface ExactWeightProps extends Pick<WeightRowProps, 'k' | 'sliders'> {
  /** Sets weight k to `to` thousandths. */
  readonly type: (k: number, to: number) => void;
  /** Locks or unlocks weight k. */
  readonly lock: (k: number) => void;
}

/** A weight as a number, with the component's code name and what earns it. */
function ExactWeight({ k, sliders, type, lock }: ExactWeightProps) {
  const code = COMPONENT_NAMES[k];
  const { name, sentence } = COMPONENT_WORDS[code];
  const { low, high } = rangeOf(sliders, k);
  const field = useMemo(() => thousandths(low, high), [low, high]);
  return (
    <div class="exact-weight">
      <TextField
        label={name}
        hint={`${code}: ${sentence}`}
        field={field}
        value={sliders.weights[k]}
        onChange={(to) => type(k, to)}
      />
      <button type="button" aria-pressed={sliders.locked[k]} onClick={() => lock(k)}>
        {sliders.locked[k] ? 'locked' : 'lock'}
        <span class="visually-hidden"> {name}</span>
      </button>
    </div>
  );
}

/** Returns the field for a typed weight from `low` to `high` thousandths. The text is a decimal, such as 0.15. */
const thousandths = (low: number, high: number): Field<number> =>
  fieldOf(
    low,
    low === high ? decimalOf(low) : `${decimalOf(low)} to ${decimalOf(high)}`,
    (text) => {
      const weight = text === '' ? Number.NaN : Math.round(Number(text) * WHOLE);
      return weight >= low && weight <= high ? weight : null;
    },
    decimalOf,
  );
