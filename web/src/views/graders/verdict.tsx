/** In words, what the grader pays for. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Interval } from '../../../../src/evaluate/statistics.js';
import { decimal } from '../../../../src/pictures/numbers.js';
import { contestant, tapeOf } from '../../graders/contestants.js';
import type { Verdict } from '../../graders/verdict.js';
import { plain, signed } from '../../person/words.js';

interface VerdictPanelProps {
  readonly verdict: Verdict;
  readonly people: number;
}

export function VerdictPanel({ verdict, people }: VerdictPanelProps) {
  const head = headOf(verdict);
  return (
    <section class={`panel verdict ${verdict.pays}`} aria-labelledby="verdict">
      <h2 id="verdict">{head}</h2>
      {verdict.beaten.map(({ name, by, mostly }) => (
        <p key={name}>
          <strong>{verdict.ignoring}</strong> beats <strong>{name}</strong> by {inWords(by)}, mostly by{' '}
          {plain(mostly.component)} ({signed(mostly.part, 3)}).
        </p>
      ))}
      <p>
        The best that infers, <strong>{verdict.inferring}</strong>, {leadInWords(verdict)}
      </p>
      {tapeOf(contestant(verdict.inferring).acting) !== null && (
        <p>Even the best that infers acts blindly: its actions are the same 28 for everybody.</p>
      )}
      <p class="fine">Seen with {people.toLocaleString('en')} people, all policies with the same ones.</p>
      <Heard text={head} />
    </section>
  );
}

function headOf({ pays, ignoring, lead }: Verdict): string {
  if (pays === 'inference') return 'This grader pays for inference';
  if (pays === 'part') return `This grader pays for ${wordsFor(ignoring)}, more than for some that infer`;
  return lead.mean === 0
    ? 'This grader pays nothing for inference'
    : `This grader pays for ${wordsFor(ignoring)}`;
}

function wordsFor(name: string): string {
  const { acting, believing } = contestant(name);
  const actions = tapeOf(acting) !== null ? 'a blind tape' : `${acting} actions`;
  return believing === 'constant' ? `${actions} with a constant belief` : actions;
}

function leadInWords({ ignoring, lead }: Verdict): string {
  if (lead.mean === 0) return `scores exactly what ${ignoring} does, which infers nothing.`;
  const apart =
    lead.low !== null && lead.low <= 0 && lead.high! >= 0 ? ' These people do not tell the two apart.' : '';
  const verb = lead.mean > 0 ? 'leads' : 'is behind';
  const by = inWords(lead.mean > 0 ? lead : turned(lead));
  return `${verb} the best that infers nothing, ${ignoring}, by ${by}.${apart}`;
}

const turned = ({ mean, low, high }: Interval): Interval => ({
  mean: -mean,
  low: high === null ? null : -high,
  high: low === null ? null : -low,
});

/** "0.021 (95 %: 0.018 to 0.024)" */
const inWords = ({ mean, low, high }: Interval): string =>
  low === null ? mean.toFixed(3) : `${mean.toFixed(3)} (95 %: ${decimal(low, 3)} to ${decimal(high!, 3)})`;

/** What is heard while a slider moves would never end: it is said when it rests. */
const REST = 700;

function Heard({ text }: { readonly text: string }) {
  const [heard, hear] = useState('');
  useLayoutEffect(() => {
    const timer = setTimeout(() => hear(text), REST);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="heard" role="status">
      {heard}
    </p>
  );
}
