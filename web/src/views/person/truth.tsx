/** The truth beside the belief, and the person in words. */
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { Table } from '../../parts/table.js';
import type { Ending } from '../../person/week.js';
import { mostParticular, namedPerson, personInWords, type Trait, title } from '../../person/words.js';
import { ENDS } from './belief.js';

const TOLD = 5;

export function Truth({ ending }: { readonly ending: Ending }) {
  const { target, belief, given, beliefMae, profile } = ending;
  const traits = personInWords(profile);
  const name = namedPerson(profile);
  return (
    <>
      <p class="whole-person">
        {name !== null && `${title(name)}: `}
        {sentence(mostParticular(traits, TOLD).map(({ words }) => words))}
      </p>
      <div class="truths">
        {BELIEF_NAMES.map((name, k) => (
          <Dimension key={name} k={k} truth={target[k]} said={given ? belief[k] : null} />
        ))}
      </div>
      <p class="key" aria-hidden="true">
        <span class="truth-mark" /> the truth
        {given && (
          <>
            <span class="said-mark" /> what was said last
          </>
        )}
      </p>
      <p>
        {given
          ? `The belief was off by ${beliefMae.toFixed(3)} on the mean of the three.`
          : 'No belief was given, which earns nothing.'}
      </p>
      <HiddenNumbers traits={traits} />
    </>
  );
}

const sentence = (clauses: readonly string[]): string => `${title(clauses.join('; '))}.`;

interface DimensionProps {
  readonly k: number;
  readonly truth: number;
  readonly said: number | null;
}

function Dimension({ k, truth, said }: DimensionProps) {
  const [low, high] = ENDS[k];
  const off = said === null ? '' : `, said ${said.toFixed(2)}: off by ${Math.abs(said - truth).toFixed(2)}`;
  return (
    <div class="truth">
      <p>
        <strong>{title(BELIEF_NAMES[k])}</strong> {truth.toFixed(2)}
        {off}
      </p>
      <div class="track" aria-hidden="true">
        <span class="truth-mark" style={{ left: `${100 * truth}%` }} />
        {said !== null && <span class="said-mark" style={{ left: `${100 * said}%` }} />}
      </div>
      <small class="ends">
        <span>0 {low}</span>
        <span>1 {high}</span>
      </small>
    </div>
  );
}

const HiddenNumbers = ({ traits }: { readonly traits: readonly Trait[] }) => (
  <details>
    <summary>All 16 hidden numbers</summary>
    <Table
      caption="What the engine knew of this person, and what share of all people have less of it"
      columns={['hidden number', 'value', 'people with less', 'in words']}
      rows={traits.map(({ name, value, share, words }) => [
        name,
        value.toFixed(3),
        `${Math.round(100 * share)} %`,
        words,
      ])}
    />
  </details>
);
