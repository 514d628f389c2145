/** The ranking of the policies, the best first: score, components, and lead over the next one. */
import type { PolicyComponents, Standing } from '../../../../src/evaluation/ranking.js';
import { COMPONENT_COLOURS } from '../../../../src/figures/theme.js';
import type { Interval } from '../../../../src/shared/statistics.js';
import { COMPONENT_NAMES } from '../../../../src/world/fields.js';
import { contestant } from '../../graders/contestants.js';
import { meansOf, type Verdict } from '../../graders/verdict.js';
import { plain } from '../../person/words.js';
import './ranking.css';

interface RankingProps {
  readonly ranking: readonly Standing[];
  readonly policies: readonly PolicyComponents[];
  /** [6] */
  readonly weights: readonly number[];
  readonly verdict: Verdict;
}

export function Ranking({ ranking, policies, weights, verdict }: RankingProps) {
  const beaten = new Set(verdict.beaten.map(({ name }) => name));
  return (
    <section class="panel" aria-labelledby="ranking">
      <h2 id="ranking">The ranking</h2>
      <p class="note">
        Mean final score, 0 to 1, with its 95 % interval, and its parts: weight times component. The lead is
        the mean difference to the next policy with the same people.
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
            {ranking.map((standing) => (
              <Row
                key={standing.policy}
                standing={standing}
                weights={weights}
                components={policies.find(({ name }) => name === standing.policy)!.components}
                isBeaten={beaten.has(standing.policy)}
                beats={beaten.size > 0 && standing.policy === verdict.bestIgnoring}
              />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

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
  readonly standing: Standing;
  readonly weights: readonly number[];
  readonly components: Float32Array;
  readonly isBeaten: boolean;
  readonly beats: boolean;
}

function Row({ standing: { policy, finalScore, lead }, weights, components, isBeaten, beats }: RowProps) {
  const { beliefSource } = contestant(policy);
  return (
    <tr class={beliefSource} data-policy={policy}>
      <th scope="row">
        <span class="standing">
          <span class="who">
            {policy}
            {isBeaten && <span class="mark beaten">beaten without inference</span>}
            {beats && <span class="mark beats">infers nothing</span>}
          </span>
          <Bar components={components} weights={weights} score={finalScore} />
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
  readonly components: Float32Array;
  readonly weights: readonly number[];
  readonly score: Interval;
}

function Bar({ components, weights, score: { mean, low, high } }: BarProps) {
  const parts = meansOf(components).map((component, k) => component * weights[k]);
  return (
    <span class="stack" aria-hidden="true">
      {parts.map((part, k) => (
        <span
          key={COMPONENT_NAMES[k]}
          class="segment"
          style={{ width: `${100 * part}%`, background: COMPONENT_COLOURS[k] }}
        />
      ))}
      <span
        class="whisker"
        style={{ left: `${100 * (low ?? mean)}%`, width: `${100 * ((high ?? mean) - (low ?? mean))}%` }}
      />
    </span>
  );
}
