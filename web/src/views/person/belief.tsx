/** Three sliders for the belief, and a box that decides whether the next action states it. */
import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { title } from '../../person/descriptions.js';

/** What 0 and 1 mean, by BELIEF_NAMES. */
export const ENDS: readonly (readonly [low: string, high: string])[] = [
  ['hates company', 'loves company'],
  ['night owl', 'morning person'],
  ['avoids work', 'lives for work'],
];

interface BeliefSlidersProps {
  readonly belief: Signal<readonly number[]>;
  /** Whether the next action states the belief. */
  readonly stated: Signal<boolean>;
}

export function BeliefSliders({ belief, stated }: BeliefSlidersProps) {
  return (
    <section class="panel" aria-labelledby="belief">
      <h2 id="belief">Who do you think it is?</h2>
      <div class="beliefs">
        {BELIEF_NAMES.map((name, k) => (
          <BeliefSlider
            key={name}
            name={name}
            ends={ENDS[k]}
            value={belief.value[k]}
            disabled={!stated.value}
            onChange={(value) => {
              belief.value = belief.value.map((each, j) => (j === k ? value : each));
            }}
          />
        ))}
        <label class="check">
          <input
            type="checkbox"
            checked={stated.value}
            onChange={({ currentTarget }) => {
              stated.value = currentTarget.checked;
            }}
          />
          <span>
            State this belief with the next action. It holds until you state another one. Grader v2 grades the
            last belief, v3 the belief at each step from the third day on.
          </span>
        </label>
      </div>
    </section>
  );
}

interface BeliefSliderProps {
  readonly name: string;
  readonly ends: readonly [low: string, high: string];
  readonly value: number;
  readonly disabled: boolean;
  readonly onChange: (value: number) => void;
}

function BeliefSlider({ name, ends: [low, high], value, disabled, onChange }: BeliefSliderProps) {
  const id = useId();
  return (
    <div class="belief">
      <label for={id}>{title(name)}</label>
      <output for={id}>{value.toFixed(2)}</output>
      <input
        id={id}
        type="range"
        min="0"
        max="1"
        step="0.01"
        value={value}
        disabled={disabled}
        aria-valuetext={`${value.toFixed(2)}, from 0, ${low}, to 1, ${high}`}
        onInput={({ currentTarget }) => onChange(Number(currentTarget.value))}
      />
      <small class="ends" aria-hidden="true">
        <span>{low}</span>
        <span>{high}</span>
      </small>
    </div>
  );
}
