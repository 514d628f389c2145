/** Three sliders for the belief, and a box that decides whether the next action states it. */
import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { title } from '../../person/descriptions.js';
import type { SliderBelief } from './slider-belief.js';

/** What 0 and 1 mean, by BELIEF_NAMES. */
export const ENDS: readonly (readonly [low: string, high: string])[] = [
  ['hates company', 'loves company'],
  ['night owl', 'morning person'],
  ['avoids work', 'lives for work'],
];

export function BeliefSliders({ belief }: { readonly belief: Signal<SliderBelief> }) {
  const { values, stated } = belief.value;
  return (
    <section class="panel" aria-labelledby="belief">
      <h2 id="belief">Who do you think it is?</h2>
      <div class="beliefs">
        {BELIEF_NAMES.map((name, k) => (
          <BeliefSlider
            key={name}
            name={name}
            ends={ENDS[k]}
            value={values[k]}
            stated={stated}
            onChange={(value) => {
              // Reads the signal again, because another slider may have moved since this was drawn.
              belief.value = {
                values: belief.value.values.map((each, j) => (j === k ? value : each)),
                stated: true,
              };
            }}
          />
        ))}
        <label class="check">
          <input
            type="checkbox"
            checked={stated}
            onChange={({ currentTarget }) => {
              belief.value = { ...belief.value, stated: currentTarget.checked };
            }}
          />
          <span>
            State this belief with the next action. Moving a slider checks this box. The belief holds until
            you state another one. Grader v2 grades the last belief, v3 the belief at each step from the third
            day on; under v3 a belief that is far off lowers the score.
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
  readonly stated: boolean;
  readonly onChange: (value: number) => void;
}

function BeliefSlider({ name, ends: [low, high], value, stated, onChange }: BeliefSliderProps) {
  const id = useId();
  return (
    <div class="belief">
      <label for={id}>{title(name)}</label>
      <output for={id}>{stated ? value.toFixed(2) : 'not stated'}</output>
      <input
        id={id}
        type="range"
        min="0"
        max="1"
        step="0.01"
        value={value}
        aria-valuetext={`${value.toFixed(2)}${stated ? '' : ', not stated'}, from 0, ${low}, to 1, ${high}`}
        onInput={({ currentTarget }) => onChange(Number(currentTarget.value))}
      />
      <small class="ends" aria-hidden="true">
        <span>{low}</span>
        <span>{high}</span>
      </small>
    </div>
  );
}
