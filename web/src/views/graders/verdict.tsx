/** The verdict on the grader in words. */

import { useLayoutEffect, useState } from 'preact/hooks';
import { decimal } from '../../../../src/figures/theme.js';
import type { Interval } from '../../../../src/shared/statistics.js';
import { rankedPolicy, sequenceGraderOf } from '../../graders/ranked-policies.js';
import type { Verdict } from '../../graders/verdict.js';
import { grouped } from '../../parts/grouped.js';
import { plain, signed } from '../../person/descriptions.js';

interface VerdictPanelProps {
  readonly verdict: Verdict;
  readonly people: number;
}

export function VerdictPanel({ verdict, people }: VerdictPanelProps) {
  const heading = headingOf(verdict);
  return (
    <section class={`panel verdict ${verdict.pays}`} aria-labelledby="verdict">
      <h2 id="verdict">{heading}</h2>
      <p>
        The best policy that infers, <strong>{verdict.bestInferring}</strong>, {leadInWords(verdict)}
      </p>
      {verdict.beaten.map(({ name, lead, largestPart }) => (
        <p key={name}>
          <strong>{verdict.bestIgnoring}</strong> beats <strong>{name}</strong> by {inWords(lead)}, mostly
          through {plain(largestPart.component)} ({signed(largestPart.part, 3)}).
        </p>
      ))}
      {sequenceGraderOf(rankedPolicy(verdict.bestInferring).actionSource) !== null && (
        <p>
          Even the best policy that infers uses its inference for the belief only: its 28 actions are the same
          for everybody.
        </p>
      )}
      <p class="fine">Based on {grouped(people)} people, the same for all policies.</p>
      <Announcement text={heading} />
    </section>
  );
}

/** Returns the verdict in a sentence. */
export function headingOf({ pays, bestIgnoring, lead }: Verdict): string {
  if (pays === 'inference') return 'This grader pays for inference';
  if (pays === 'part')
    return `This grader pays for inference, but ${wordsFor(bestIgnoring)} beats some policies that infer`;
  return lead.mean === 0
    ? 'This grader pays nothing for inference'
    : `This grader pays for ${wordsFor(bestIgnoring)}`;
}

function wordsFor(name: string): string {
  const { actionSource, beliefSource } = rankedPolicy(name);
  const actions =
    sequenceGraderOf(actionSource) !== null ? 'an open-loop sequence' : `${actionSource} actions`;
  return beliefSource === 'constant' ? `${actions} with a constant belief` : actions;
}

function leadInWords({ bestIgnoring, lead }: Verdict): string {
  if (lead.mean === 0) return `scores exactly the same as ${bestIgnoring}, which infers nothing.`;
  const caveat =
    lead.low !== null && lead.low <= 0 && lead.high! >= 0 ? ' The difference is not significant.' : '';
  const verb = lead.mean > 0 ? 'leads' : 'is behind';
  const amount = inWords(lead.mean > 0 ? lead : negated(lead));
  return `${verb} the best policy that infers nothing, ${bestIgnoring}, by ${amount}.${caveat}`;
}

const negated = ({ mean, low, high }: Interval): Interval => ({
  mean: -mean,
  low: high === null ? null : -high,
  high: low === null ? null : -low,
});

/** Formats an interval: "0.021 (95 %: 0.018 to 0.024)". */
const inWords = ({ mean, low, high }: Interval): string =>
  low === null ? mean.toFixed(3) : `${mean.toFixed(3)} (95 %: ${decimal(low, 3)} to ${decimal(high!, 3)})`;

/**
 * Milliseconds without a change of the heading after which it is announced. Chosen by hand: a shorter delay announces more
 * headings while a slider moves.
 */
const DELAY = 700;

function Announcement({ text }: { readonly text: string }) {
  const [announced, setAnnounced] = useState('');
  useLayoutEffect(() => {
    const timer = setTimeout(() => setAnnounced(text), DELAY);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="visually-hidden" role="status">
      {announced}
    </p>
  );
}
