/** The verdict on the grader in words. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Interval } from '../../../../src/shared/statistics.js';
import { rankedPolicy, sequenceGraderOf } from '../../graders/ranked-policies.js';
import type { Verdict } from '../../graders/verdict.js';
import { signed } from '../../person/descriptions.js';
import { COMPONENT_WORDS, policyName } from '../../words.js';
import { halfWidth } from '../crowd/format.js';

export function VerdictPanel({ verdict }: { readonly verdict: Verdict }) {
  const heading = headingOf(verdict);
  return (
    <section class={`panel verdict ${verdict.pays}`} aria-labelledby="verdict">
      <h2 id="verdict">{heading}</h2>
      <p>{leadInWords(verdict)}</p>
      <Announcement text={heading} />
    </section>
  );
}

/** The policies that infer but lose to one that does not, with the reasons. */
export const Beaten = ({
  verdict: { beaten, bestIgnoring, bestInferring },
}: {
  readonly verdict: Verdict;
}) => (
  <>
    {beaten.length === 0 && <p>None. No policy that infers loses to one that does not.</p>}
    {beaten.map(({ name, lead, largestPart: { component, part } }) => (
      <p key={name}>
        <strong>{policyName(bestIgnoring)}</strong> beats <strong>{policyName(name)}</strong> by{' '}
        {inWords(lead)}, mostly through {COMPONENT_WORDS[component].name} ({signed(part, 3)}).
      </p>
    ))}
    {sequenceGraderOf(rankedPolicy(bestInferring).actionSource) !== null && (
      <p>
        Even the best policy that infers uses its inference for the belief only: its 28 actions are the same
        for everybody.
      </p>
    )}
  </>
);

/** Returns the verdict in a sentence. */
function headingOf({ pays, bestIgnoring, beaten, lead }: Verdict): string {
  if (pays === 'inference') return 'It pays for reading the person';
  if (pays === 'part')
    return `It pays for reading the person, but ${beaten.length} who read lose to one who does not`;
  return lead.mean === 0
    ? 'It pays nothing for reading the person'
    : `It pays more for “${policyName(bestIgnoring)}” than for reading the person`;
}

function leadInWords({ lead }: Verdict): string {
  if (lead.mean === 0) return 'The best who reads scores exactly the same as the best who does not.';
  const verb = lead.mean > 0 ? 'leads' : 'is behind';
  const isUnsure = lead.low !== null && lead.low <= 0 && lead.high! >= 0;
  return `The best who reads ${verb} the best who does not by ${inWords(lead)}.${isUnsure ? ' The difference is not significant.' : ''}`;
}

/** Formats the size of a difference, with its 95 % interval: "0.021 ±0.003". */
const inWords = (lead: Interval): string => `${Math.abs(lead.mean).toFixed(3)} ${halfWidth(lead, 3)}`;

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
