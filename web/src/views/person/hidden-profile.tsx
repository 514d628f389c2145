/** The profile in words and numbers, and the belief beside the true values. */
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { Table } from '../../parts/table.js';
import {
  type HiddenNumber,
  mostUnusual,
  profileInWords,
  profileNameOf,
  title,
} from '../../person/descriptions.js';
import type { EpisodeResult } from '../../person/episode-types.js';
import { ENDS } from './belief.js';

/** The sentence describes at most this many of the hidden numbers. Chosen by hand, so that it stays short. */
const MAX_DESCRIBED = 5;

export function HiddenProfile({ result }: { readonly result: EpisodeResult }) {
  const { target, belief, given, beliefMae, profile } = result;
  const numbers = profileInWords(profile);
  const name = profileNameOf(profile);
  return (
    <>
      <p class="whole-person">
        {name !== null && `${title(name)}: `}
        {sentence(mostUnusual(numbers, MAX_DESCRIBED).map(({ words }) => words))}
      </p>
      <div class="truths">
        {BELIEF_NAMES.map((name, k) => (
          <Dimension key={name} k={k} truth={target[k]} stated={given ? belief[k] : null} />
        ))}
      </div>
      <p class="key" aria-hidden="true">
        <span class="truth-mark" /> the truth
        {given && (
          <>
            <span class="stated-mark" /> the last stated belief
          </>
        )}
      </p>
      <p>
        {given
          ? `On average, the three numbers of the belief were off by ${beliefMae.toFixed(3)}.`
          : 'No belief was stated, which earns nothing.'}
      </p>
      <HiddenNumbers numbers={numbers} />
    </>
  );
}

const sentence = (clauses: readonly string[]): string => `${title(clauses.join('; '))}.`;

interface DimensionProps {
  readonly k: number;
  readonly truth: number;
  readonly stated: number | null;
}

function Dimension({ k, truth, stated }: DimensionProps) {
  const [low, high] = ENDS[k];
  const off =
    stated === null ? '' : `, stated ${stated.toFixed(2)}: off by ${Math.abs(stated - truth).toFixed(2)}`;
  return (
    <div class="truth">
      <p>
        <strong>{title(BELIEF_NAMES[k])}</strong> {truth.toFixed(2)}
        {off}
      </p>
      <div class="track" aria-hidden="true">
        <span class="truth-mark" style={{ left: `${100 * truth}%` }} />
        {stated !== null && <span class="stated-mark" style={{ left: `${100 * stated}%` }} />}
      </div>
      <small class="ends">
        <span>0 {low}</span>
        <span>1 {high}</span>
      </small>
    </div>
  );
}

const HiddenNumbers = ({ numbers }: { readonly numbers: readonly HiddenNumber[] }) => (
  <details>
    <summary>All 16 hidden numbers</summary>
    <Table
      caption="The hidden profile of this person, and for each number the share of all people who have less"
      columns={['hidden number', 'value', 'share of people with less', 'in words']}
      rows={numbers.map(({ name, value, rank, words }) => [
        name,
        value.toFixed(3),
        `${Math.round(100 * rank)} %`,
        words,
      ])}
    />
  </details>
);
