/** The ranking of the policies, the best first: score, components, and lead over the next one. */
import { useRef } from 'preact/hooks';
import type { ScoreAnchors } from '../../../../src/evaluation/audit/read-anchors.js';
import { shareOf } from '../../../../src/evaluation/bracket.js';
import type { PolicyComponents } from '../../../../src/evaluation/ranking.js';
import { COMPONENT_COLOURS, decimal } from '../../../../src/figures/theme.js';
import type { Interval } from '../../../../src/shared/statistics.js';
import { COMPONENT_NAMES } from '../../../../src/world/fields.js';
import { rankedPolicy } from '../../graders/ranked-policies.js';
import type { Place } from '../../graders/ties.js';
import { meansOf, type Verdict } from '../../graders/verdict.js';
import { type Axis, leftOf, placeOf, stackOf } from '../../parts/stack.js';
import { useMovingRows } from '../../parts/use-moving-rows.js';
import { plain } from '../../person/descriptions.js';
import './ranking.css';

interface RankingProps {
  /** The best first. */
  readonly places: readonly Place[];
  readonly policies: readonly PolicyComponents[];
  /** By COMPONENT_NAMES. */
  readonly weights: readonly number[];
  readonly verdict: Verdict;
  readonly people: number;
  /** The ends of the grader's bracket (../../graders/bracket.ts); null if they are unknown. */
  readonly bracket: ScoreAnchors | null;
}

export function Ranking({ places, policies, weights, verdict, people, bracket }: RankingProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  useMovingRows(body);
  const beaten = new Set(verdict.beaten.map(({ name }) => name));
  const parts = new Map(policies.map(({ name, components }) => [name, partsOf(components, weights)]));
  const axis = { low: Math.min(...Array.from(parts.values(), leftOf)), high: 1 };
  return (
    <section class="panel" aria-labelledby="ranking">
      <h2 id="ranking">The ranking</h2>
      <p class="note">
        The mean final score, 0 to 1, has a 95 % interval. Its parts are weight times component. The lead is
        the mean difference from the next policy for the same people. Policies with the same scores share a
        row.
      </p>
      <Bracket bracket={bracket} />
      <Legend />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard. */}
      <section class="table" tabIndex={0} aria-label="The ranking as a table">
        <table class="ranking">
          <thead>
            <tr>
              <th scope="col">policy</th>
              <th scope="col">final score</th>
              <th scope="col">lead</th>
              <th scope="col">share of what knowing the person is worth</th>
            </tr>
          </thead>
          <tbody ref={body}>
            {places.map((place) => (
              <Row
                key={place.policies[0]}
                place={place}
                parts={parts.get(place.policies[0])!}
                axis={axis}
                share={bracket && shareOf(place.finalScore, people, bracket)}
                isBeaten={place.policies.some((policy) => beaten.has(policy))}
                beats={beaten.size > 0 && place.policies.includes(verdict.bestIgnoring)}
              />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

/** The two ends of the bracket in words, or how to measure them. */
const Bracket = ({ bracket }: Pick<RankingProps, 'bracket'>) =>
  bracket === null ? (
    <p class="note bracket">
      What knowing the person is worth has been measured for v1, v2 and v3. For other weights{' '}
      <code>rhythm-vec audit --grader</code> measures it.
    </p>
  ) : (
    <p class="note bracket">
      The last column places a score between two others: 0 is the best score of the same 28 actions and one
      belief for everybody ({bracket.sequence.mean.toFixed(3)}); 1 is the score of a planner that knows the
      person ({bracket.oracle.mean.toFixed(3)}).
    </p>
  );

/** Returns weight times mean component, by COMPONENT_NAMES. */
const partsOf = (components: Float32Array, weights: readonly number[]): number[] =>
  meansOf(components).map((mean, k) => mean * weights[k]);

const Legend = () => (
  <ul class="legend" aria-label="Parts of a score: weight times component">
    {COMPONENT_NAMES.map((name, k) => (
      <li key={name}>
        <span class="chip" style={{ background: COMPONENT_COLOURS[k] }} />
        {plain(name)}
      </li>
    ))}
  </ul>
);

interface RowProps {
  readonly place: Place;
  readonly parts: readonly number[];
  readonly axis: Axis;
  readonly share: Interval | null;
  readonly isBeaten: boolean;
  readonly beats: boolean;
}

function Row({ place: { policies, finalScore, lead }, parts, axis, share, isBeaten, beats }: RowProps) {
  const { beliefSource } = rankedPolicy(policies[0]);
  return (
    <tr class={beliefSource} data-policy={policies.join(' ')} data-row={policies[0]}>
      <th scope="row">
        <span class="standing">
          <span class="who">
            {policies.map((policy) => (
              <span key={policy} class="name">
                {policy}
              </span>
            ))}
            {isBeaten && <span class="mark beaten">beaten without inference</span>}
            {beats && <span class="mark beats">infers nothing</span>}
          </span>
          <Bar parts={parts} axis={axis} score={finalScore} />
        </span>
      </th>
      <td>
        <IntervalCell of={finalScore} digits={3} />
      </td>
      <td>{lead === null ? '–' : <IntervalCell of={lead} digits={3} />}</td>
      <td>{share === null ? '–' : <IntervalCell of={share} digits={2} />}</td>
    </tr>
  );
}

const IntervalCell = ({ of, digits }: { readonly of: Interval; readonly digits: number }) => (
  <>
    {decimal(of.mean, digits)} <small>{halfWidth(of, digits)}</small>
  </>
);

const halfWidth = ({ mean, high }: Interval, digits: number): string =>
  high === null ? '' : `±${(high - mean).toFixed(digits)}`;

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
