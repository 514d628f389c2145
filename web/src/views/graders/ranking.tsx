/** The ranking of the policies, the best first: score, components, and lead over the next one. */
import type { PolicyComponents } from '../../../../src/evaluation/ranking.js';
import { COMPONENT_COLOURS } from '../../../../src/figures/theme.js';
import type { Interval } from '../../../../src/shared/statistics.js';
import { COMPONENT_NAMES } from '../../../../src/world/fields.js';
import { rankedPolicy } from '../../graders/ranked-policies.js';
import type { Place } from '../../graders/ties.js';
import { meansOf, type Verdict } from '../../graders/verdict.js';
import { type Axis, leftOf, placeOf, stackOf } from '../../parts/stack.js';
import { plain } from '../../person/descriptions.js';
import './ranking.css';

interface RankingProps {
  /** The best first. */
  readonly places: readonly Place[];
  readonly policies: readonly PolicyComponents[];
  /** By COMPONENT_NAMES. */
  readonly weights: readonly number[];
  readonly verdict: Verdict;
}

export function Ranking({ places, policies, weights, verdict }: RankingProps) {
  const beaten = new Set(verdict.beaten.map(({ name }) => name));
  const parts = new Map(policies.map(({ name, components }) => [name, partsOf(components, weights)]));
  const axis = { low: Math.min(...Array.from(parts.values(), leftOf)), high: 1 };
  return (
    <section class="panel" aria-labelledby="ranking">
      <h2 id="ranking">The ranking</h2>
      <p class="note">
        Mean final score, 0 to 1, with its 95 % interval, and its parts: weight times component. The lead is
        the mean difference to the next policy with the same people. Policies with the same scores share a
        row.
      </p>
      <Legend />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard. */}
      <section class="table" tabIndex={0} aria-label="The ranking as a table">
        <table class="ranking">
          <thead>
            <tr>
              <th scope="col">policy</th>
              <th scope="col">final score</th>
              <th scope="col">lead</th>
            </tr>
          </thead>
          <tbody>
            {places.map((place) => (
              <Row
                key={place.policies[0]}
                place={place}
                parts={parts.get(place.policies[0])!}
                axis={axis}
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
  readonly isBeaten: boolean;
  readonly beats: boolean;
}

function Row({ place: { policies, finalScore, lead }, parts, axis, isBeaten, beats }: RowProps) {
  const { beliefSource } = rankedPolicy(policies[0]);
  return (
    <tr class={beliefSource} data-policy={policies.join(' ')}>
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
        {finalScore.mean.toFixed(3)} <small>{halfWidth(finalScore)}</small>
      </td>
      <td>{lead === null ? '–' : <LeadCell lead={lead} />}</td>
    </tr>
  );
}

const LeadCell = ({ lead }: { readonly lead: Interval }) => (
  <>
    {lead.mean.toFixed(3)} <small>{halfWidth(lead)}</small>
  </>
);

const halfWidth = ({ mean, high }: Interval): string => (high === null ? '' : `±${(high - mean).toFixed(3)}`);

interface BarProps {
  readonly parts: readonly number[];
  readonly axis: Axis;
  readonly score: Interval;
}

/** The parts of a score, the negative ones left of 0, and the interval of the score. */
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
