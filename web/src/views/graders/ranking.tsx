/** The ranking of the policies, the best first: score and components, and on demand the rest of the places with their leads. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type ScoreAnchors, shippedAnchors } from '../../../../src/evaluation/audit/read-anchors.js';
import { shareOf } from '../../../../src/evaluation/bracket.js';
import type { PolicyComponents } from '../../../../src/evaluation/ranking.js';
import { COMPONENT_COLOURS, decimal } from '../../../../src/figures/theme.js';
import type { Interval } from '../../../../src/shared/statistics.js';
import { COMPONENT_NAMES } from '../../../../src/world/fields.js';
import { rankedPolicy } from '../../graders/ranked-policies.js';
import { meansOf, type Place, type Verdict } from '../../graders/verdict.js';
import { fractionsOf, presetOf, type Weights } from '../../graders/weights.js';
import { Button } from '../../parts/controls.js';
import { grouped } from '../../parts/grouped.js';
import { PolicyName } from '../../parts/policy-name.js';
import { type Axis, leftOf, placeOf, stackOf } from '../../parts/stack.js';
import { useMovingRows } from '../../parts/use-moving-rows.js';
import { halfWidth } from '../crowd/format.js';

interface RankingProps {
  /** The best first. */
  readonly places: readonly Place[];
  readonly policies: readonly PolicyComponents[];
  readonly weights: Weights;
  readonly verdict: Verdict;
  /** The number of people so far, and of all people. */
  readonly people: number;
  readonly requested: number;
}

/** The number of places that are always shown; graders.css hides two of them on a phone. */
const FIRST = 5;

export function Ranking({ places, policies, weights, verdict, people, requested }: RankingProps) {
  const list = useRef<HTMLOListElement>(null);
  const isWhole = useSignal(false);
  useMovingRows(list);
  const beaten = new Set(verdict.beaten.map(({ name }) => name));
  const fractions = fractionsOf(weights);
  const parts = new Map(
    policies.map(({ name, components }) => [name, meansOf(components).map((mean, k) => mean * fractions[k])]),
  );
  const axis = { low: Math.min(...Array.from(parts.values(), leftOf)), high: 1 };
  const bracket = bracketOf(weights);
  return (
    <section class="panel places" aria-labelledby="ranking">
      <div class="panel-head">
        <h2 id="ranking">Who comes first</h2>
        <span class="fine">mean scores, {progressOf(people, requested)}</span>
      </div>
      {isWhole.value && <Reading bracket={bracket} />}
      <ol class={isWhole.value ? 'ranking whole' : 'ranking'} ref={list}>
        {(isWhole.value ? places : places.slice(0, FIRST)).map((place) => (
          <Row
            key={place.policies[0]}
            place={place}
            parts={parts.get(place.policies[0])!}
            axis={axis}
            share={bracket && shareOf(place.finalScore, people, bracket)}
            isBeaten={place.policies.some((policy) => beaten.has(policy))}
            isWhole={isWhole.value}
          />
        ))}
      </ol>
      <Button
        onClick={() => {
          isWhole.value = !isWhole.value;
        }}
      >
        {isWhole.value ? 'Show the first' : `Show all ${places.length}, with their leads`}
      </Button>
    </section>
  );
}

const progressOf = (people: number, requested: number): string =>
  `${people === requested ? '' : `${grouped(people)} of `}${grouped(requested)} people`;

/**
 * Returns both ends of a built-in grader's bracket, as an audit measured them on sampled profiles: the best score of one action
 * sequence and one belief for everybody, and the score of a planner that knows the person. Null for other weights.
 */
function bracketOf(weights: Weights): ScoreAnchors | null {
  const preset = presetOf(weights);
  return (preset && shippedAnchors(preset.name)?.anchors.sampled) ?? null;
}

/** How to read the rows. */
const Reading = ({ bracket }: { readonly bracket: ScoreAnchors | null }) => (
  <p class="note">
    A score has a 95 % interval; its parts are weight times component, in the colours of the weights. The lead
    is the mean difference from the next place for the same people.{' '}
    {bracket === null ? (
      <>
        What knowing the person is worth was measured for v1, v2 and v3;{' '}
        <code>rhythm-vec audit --grader</code> measures it for other weights.
      </>
    ) : (
      `The worth places a score between two others: 0 is the best score of the same 28 actions and one belief for everybody (${bracket.sequence.mean.toFixed(3)}); 1 is that of a planner that knows the person (${bracket.oracle.mean.toFixed(3)}).`
    )}
  </p>
);

interface RowProps {
  readonly place: Place;
  readonly parts: readonly number[];
  readonly axis: Axis;
  readonly share: Interval | null;
  readonly isBeaten: boolean;
  readonly isWhole: boolean;
}

function Row({ place: { policies, finalScore, lead }, parts, axis, share, isBeaten, isWhole }: RowProps) {
  return (
    <li
      class={rankedPolicy(policies[0]).beliefSource}
      data-policy={policies.join(' ')}
      data-row={policies[0]}
    >
      <span class="who">
        {policies.map((policy) => (
          <PolicyName key={policy} of={policy} />
        ))}
        {isBeaten && <span class="mark">loses to one who does not read</span>}
      </span>
      <Bar parts={parts} axis={axis} score={finalScore} />
      <span class="score">{inNumbers(finalScore, 3)}</span>
      {isWhole && (
        <small>
          lead <span class="lead-over-next">{lead === null ? '–' : inNumbers(lead, 3)}</span>, worth{' '}
          <span class="worth">{share === null ? '–' : inNumbers(share, 2)}</span>
        </small>
      )}
    </li>
  );
}

const inNumbers = (interval: Interval, digits: number): string =>
  `${decimal(interval.mean, digits)} ${halfWidth(interval, digits)}`;

interface BarProps {
  readonly parts: readonly number[];
  readonly axis: Axis;
  readonly score: Interval;
}

/** Draws the parts of a score, the negative ones left of 0, and the interval of the score. */
const Bar = ({ parts, axis, score: { mean, low, high } }: BarProps) => (
  <span class="stack" aria-hidden="true">
    {stackOf(parts).map((section, k) => (
      <span
        key={COMPONENT_NAMES[k]}
        class="segment"
        style={{ ...placeOf(section, axis), background: COMPONENT_COLOURS[k] }}
      />
    ))}
    {axis.low < 0 && <span class="zero" style={placeOf({ start: 0, end: 0 }, axis)} />}
    <span class="whisker" style={placeOf({ start: low ?? mean, end: high ?? mean }, axis)} />
  </span>
);
