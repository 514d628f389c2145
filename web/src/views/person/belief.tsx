/** Who the visitor thinks it is: a ring and three sliders, beside another belief. On a narrow screen, a sheet at the bottom. */
import { type Signal, useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { title } from '../../person/descriptions.js';
import { FIRST_DAY } from '../../person/guide.js';
import { BELIEF_WORDS } from '../../words.js';
import { type Outline, Ring, RingKey } from './ring.js';
import type { SliderBelief } from './slider-belief.js';

interface BeliefProps {
  readonly belief: Signal<SliderBelief>;
  /** A belief beside the visitor's; null for none. */
  readonly other: Outline | null;
  /** Steps played. */
  readonly steps: number;
}

export function Belief({ belief, other, steps }: BeliefProps) {
  const isOpen = useSignal(false);
  const { values, stated } = belief.value;
  const isAsking = steps >= FIRST_DAY && !stated;
  const set = (k: number, value: number): void => {
    // Reads the signal again, because another slider may have moved since this was drawn.
    const next = belief.value.values.map((each, j) => (j === k ? value : each));
    belief.value = { values: next, stated: true };
  };
  const mine: Outline = { kind: stated ? 'filled' : 'unset', label: 'you', values, colour: 'var(--player)' };
  const outlines = other === null ? [mine] : [mine, other];
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <section
      class={`panel belief${isOpen.value ? ' open' : ''}${isAsking ? ' asking' : ''}`}
      aria-labelledby="belief"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        // An open sheet must not cover the control that has the focus.
        if (relatedTarget !== null && !currentTarget.contains(relatedTarget as Node)) close();
      }}
      onKeyDown={({ key }) => key === 'Escape' && close()}
    >
      <h2 id="belief">Who is this?</h2>
      <button
        type="button"
        class="sheet"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <Ring outlines={outlines} named={false} />
        <strong>{isOpen.value ? 'Back to the actions' : 'Who is this?'}</strong>
        <small>
          {stated
            ? BELIEF_NAMES.map((name, k) => `${title(name)} ${values[k].toFixed(2)}`).join(' · ')
            : 'Say what you believe'}
        </small>
      </button>
      <div class="sheet-content">
        <p class="ask">
          {isAsking
            ? 'A day is over. Move the sliders to who you think it is.'
            : stated
              ? 'It counts with your next action.'
              : 'You have not said it yet.'}
        </p>
        <Ring outlines={outlines} onChange={set} />
        <RingKey outlines={outlines} />
        <div>
          {BELIEF_NAMES.map((name, k) => (
            <BeliefSlider
              key={name}
              k={k}
              value={values[k]}
              stated={stated}
              other={other}
              onChange={(value) => set(k, value)}
            />
          ))}
        </div>
      </div>
    </section>
  );
}

interface BeliefSliderProps {
  readonly k: number;
  readonly value: number;
  readonly stated: boolean;
  readonly other: Outline | null;
  readonly onChange: (value: number) => void;
}

function BeliefSlider({ k, value, stated, other, onChange }: BeliefSliderProps) {
  const id = useId();
  const { low, high } = BELIEF_WORDS[BELIEF_NAMES[k]];
  return (
    <div class="slider">
      <label for={id}>{title(BELIEF_NAMES[k])}</label>
      <output for={id}>{stated ? value.toFixed(2) : '–'}</output>
      <span class="rail">
        {other !== null && (
          <span>
            <i style={{ left: `${100 * other.values[k]}%`, background: other.colour }} />
            <span class="visually-hidden">
              {other.label}: {other.values[k].toFixed(2)}
            </span>
          </span>
        )}
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
      </span>
      <small class="ends" aria-hidden="true">
        <span>{low}</span>
        <span>{high}</span>
      </small>
    </div>
  );
}

/** The belief that a policy states with its next move, beside another one. */
export const PolicyBelief = ({ outlines }: { readonly outlines: readonly Outline[] }) => (
  <section class="panel policy-belief" aria-labelledby="belief">
    <h2 id="belief">Who is this?</h2>
    <Ring outlines={outlines} />
    <RingKey outlines={outlines} />
  </section>
);
