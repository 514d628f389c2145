/** Who the visitor thinks it is: a ring and three sliders, beside another belief. On a narrow screen, a sheet at the bottom. */
import type { Signal } from '@preact/signals';
import type { TargetedPointerEvent } from 'preact';
import { useId, useState } from 'preact/hooks';
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { title } from '../../person/descriptions.js';
import { FIRST_DAY, type SliderBelief } from '../../person/episode.js';
import { BELIEF_WORDS } from '../../words.js';

/** One belief in the ring. */
export interface Outline {
  /** How it is drawn: filled, as a thin line before it is stated, as a dashed line, or as the truth. */
  readonly kind: 'filled' | 'unset' | 'dashed' | 'truth';
  /** Whose it is: "you". */
  readonly label: string;
  /** By BELIEF_NAMES, in [0, 1]. */
  readonly values: readonly number[];
  readonly colour: string;
}

export const outlineOf = (
  kind: Outline['kind'],
  label: string,
  values: ArrayLike<number>,
  colour: string,
): Outline => ({ kind, label, values: Array.from(values), colour });

interface RingProps {
  /** From the back to the front. */
  readonly outlines: readonly Outline[];
  /** Changes one number of the visitor's belief, which the pointer drags; without it the ring does not move. */
  readonly onChange?: (k: number, value: number) => void;
  /** Whether the axes are named. A small ring has no room. */
  readonly named?: boolean;
}

/** The directions of the axes: the first one points up, the others follow clockwise. */
const AXES = BELIEF_NAMES.map((_, k) => {
  const angle = ((k / BELIEF_NAMES.length) * 2 - 0.5) * Math.PI;
  return { x: Math.cos(angle), y: Math.sin(angle) };
});
/** The radius of the rim. */
const RADIUS = 80;

export function Ring({ outlines, onChange, named = true }: RingProps) {
  const drag = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    if (event.buttons === 0) return;
    const matrix = event.currentTarget.getScreenCTM()!.inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    // The pointer is on the axis along which it is farthest from the middle.
    const along = AXES.map((axis) => (axis.x * x + axis.y * y) / RADIUS);
    const value = Math.max(...along);
    onChange?.(along.indexOf(value), Math.round(100 * Math.min(1, value)) / 100);
  };
  return (
    <svg
      class={onChange === undefined ? 'ring' : 'ring draggable'}
      viewBox={named ? '-124 -120 248 202' : '-86 -86 172 172'}
      aria-hidden="true"
      onPointerDown={drag}
      onPointerMove={drag}
    >
      {[1, 0.5].map((share) => (
        <circle key={share} class={share === 1 ? 'rim' : 'middle'} r={share * RADIUS} />
      ))}
      {AXES.map(({ x, y }, k) => (
        <g key={BELIEF_NAMES[k]}>
          <line class="axis" x2={x * RADIUS} y2={y * RADIUS} />
          {named && (
            <text x={x * (RADIUS + 30)} y={y * (RADIUS + 36) + 10} text-anchor="middle">
              {title(BELIEF_NAMES[k])}
            </text>
          )}
        </g>
      ))}
      {outlines.map(({ kind, values, colour }) => (
        <path key={kind} class={kind} d={pathOf(values)} style={{ stroke: colour, fill: colour }} />
      ))}
      {outlines
        .filter(({ kind }) => kind === 'filled')
        .map(({ values, colour }) =>
          values.map((value, k) => (
            <circle
              key={BELIEF_NAMES[k]}
              class="point"
              cx={AXES[k].x * value * RADIUS}
              cy={AXES[k].y * value * RADIUS}
              r="6"
              style={{ fill: colour }}
            />
          )),
        )}
    </svg>
  );
}

/** Names the outlines of a ring. */
export const RingKey = ({ outlines }: Pick<RingProps, 'outlines'>) => (
  <p class="key">
    {outlines.map(({ kind, label, colour }) => (
      <span key={label}>
        <i class={kind} style={{ color: colour }} /> {label}
      </span>
    ))}
  </p>
);

const pathOf = (values: readonly number[]): string =>
  `M${values.map((value, k) => `${AXES[k].x * value * RADIUS} ${AXES[k].y * value * RADIUS}`).join('L')}Z`;

interface BeliefProps {
  readonly belief: Signal<SliderBelief>;
  /** A belief beside the visitor's; null for none. */
  readonly other: Outline | null;
  /** Steps played. */
  readonly steps: number;
}

export function Belief({ belief, other, steps }: BeliefProps) {
  const [isOpen, setOpen] = useState(false);
  const { values, stated } = belief.value;
  const isAsking = steps >= FIRST_DAY && !stated;
  const set = (k: number, value: number): void => {
    // Reads the signal again, because another slider may have moved since this was drawn.
    const next = belief.value.values.map((each, j) => (j === k ? value : each));
    belief.value = { values: next, stated: true };
  };
  const mine = outlineOf(stated ? 'filled' : 'unset', 'you', values, 'var(--player)');
  const outlines = other === null ? [mine] : [mine, other];
  const close = (): void => setOpen(false);
  return (
    <section
      class={`panel belief${isOpen ? ' open' : ''}${isAsking ? ' asking' : ''}`}
      aria-labelledby="belief"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        // An open sheet must not cover the control that has the focus.
        if (relatedTarget !== null && !currentTarget.contains(relatedTarget as Node)) close();
      }}
      onKeyDown={({ key }) => key === 'Escape' && close()}
    >
      <h2 id="belief">Who is this?</h2>
      <button type="button" class="sheet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Ring outlines={outlines} named={false} />
        <strong>{isOpen ? 'Back to the actions' : 'Who is this?'}</strong>
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
              belief={belief.value}
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
  readonly belief: SliderBelief;
  readonly other: Outline | null;
  readonly onChange: (value: number) => void;
}

function BeliefSlider({ k, belief: { values, stated }, other, onChange }: BeliefSliderProps) {
  const value = values[k];
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
