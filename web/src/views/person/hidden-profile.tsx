/** The profile in words and numbers, and the belief beside the true values. */
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { colourOf } from '../../charts/policy-colours.js';
import { Table } from '../../parts/table.js';
import { mostUnusual, profileInWords, profileNameOf, title } from '../../person/descriptions.js';
import type { EpisodeResult } from '../../person/episode-types.js';
import { BELIEF_WORDS, policyName } from '../../words.js';
import { lastGuess } from './episode-store.js';
import { type Outline, Ring, RingKey } from './ring.js';

/** The sentence describes at most this many of the hidden numbers. Chosen by hand, so that it stays short. */
const MAX_DESCRIBED = 4;

interface HiddenProfileProps {
  readonly result: EpisodeResult;
  /** Who played: BY_HAND or a policy. */
  readonly player: string;
}

export function HiddenProfile({ result: { target, belief, given, profile }, player }: HiddenProfileProps) {
  const name = profileNameOf(profile);
  const words = mostUnusual(profileInWords(profile), MAX_DESCRIBED).map((number) => number.words);
  const label = policyName(player);
  const guess = lastGuess();
  const outlines: Outline[] = [
    { kind: 'truth', label: 'the truth', values: Array.from(target), colour: 'var(--ink)' },
    ...(guess === null
      ? []
      : [
          {
            kind: 'dashed' as const,
            label: 'the planner, from the same week',
            values: guess,
            colour: colourOf('planner+inference'),
          },
        ]),
    ...(given
      ? [{ kind: 'filled' as const, label, values: Array.from(belief), colour: 'var(--player)' }]
      : []),
  ];
  return (
    <>
      <p class="whole-person">
        {name !== null && `${title(name)}: `}
        {title(words.join('; '))}.
      </p>
      <Ring outlines={outlines} />
      <RingKey outlines={outlines} />
      <table class="truths">
        <caption class="visually-hidden">The belief, from 0 to 1</caption>
        <thead>
          <tr>
            <th scope="col">0 to 1</th>
            {outlines.map(({ label: whose }) => (
              <th key={whose} scope="col">
                {whose.replace(/, .*/, '')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {BELIEF_NAMES.map((each, k) => (
            <tr key={each}>
              <th scope="row">
                {BELIEF_WORDS[each].low} – {BELIEF_WORDS[each].high}
              </th>
              {outlines.map(({ label: whose, values }) => (
                <td key={whose}>{values[k].toFixed(2)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** A fold with the profile in full. */
export const HiddenNumbers = ({ profile }: Pick<EpisodeResult, 'profile'>) => (
  <details>
    <summary>All 16 hidden numbers</summary>
    <Table
      caption="The hidden profile of this person, and for each number the share of all people who have less"
      columns={['hidden number', 'value', 'share of people with less', 'in words']}
      rows={profileInWords(profile).map(({ name, value, rank, words }) => [
        name,
        value.toFixed(3),
        `${Math.round(100 * rank)} %`,
        words,
      ])}
    />
  </details>
);
