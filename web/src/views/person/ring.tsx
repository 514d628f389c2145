/** Beliefs as a ring with three axes: 0 is the middle, 1 the rim. */
import type { TargetedPointerEvent } from 'preact';
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { title } from '../../person/descriptions.js';

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
