/** The result of the day: the user's place among the rivals, and a text to copy. */
import { RHYTHM } from '../../../../src/world/numbers.js';
import { placeOf, resultText, type Scored, SQUARES } from '../../daily/daily.js';
import { CopyButton } from '../../parts/copy-button.js';
import type { EpisodeResult, Move } from '../../person/episode-types.js';
import { BY_HAND, NOBODY } from '../../person/player-names.js';
import { addressOf } from '../person/fields.js';
import { failedRivals, RIVALS, rivals } from './rivals.js';

interface ShareProps {
  readonly day: string;
  readonly seed: number;
  readonly grader: string;
  readonly moves: readonly Move[];
  readonly result: EpisodeResult;
}

const CATEGORIES = RHYTHM.categories.map((category, k) => `${SQUARES[k]} ${category}`).join(', ');

export function Share({ day, seed, grader, moves, result }: ShareProps) {
  // The shared text leaves out students that the user kept (kept-students.ts), because other people do not have them.
  const finished = rivals.value.filter(({ name }) => RIVALS.includes(name));
  const { finalScore, given, beliefMae } = result;
  const mine: Scored = { name: 'you', finalScore, beliefMae: given ? beliefMae : null };
  const failed = RIVALS.filter((name) => failedRivals.value.includes(name));
  const done = [...failed, ...finished.map(({ name }) => name)];
  const waiting = RIVALS.filter((name) => !done.includes(name));
  const text = resultText({
    day,
    mine,
    rivals: finished,
    actions: moves.map(({ action }) => action),
    link: `${location.href.replace(/#.*/, '')}#daily?day=${day}`,
  });
  const week = addressOf({ seed, person: 'sampled', grader, by: BY_HAND, against: NOBODY, moves, at: 0 });
  return (
    <section class="panel share" aria-labelledby="share">
      <h2 id="share">{placeOf(mine, finished)}</h2>
      {waiting.length > 0 && <p class="note">Still playing: {waiting.join(' and ')} …</p>}
      {failed.length > 0 && (
        <p class="note">Could not play: {failed.join(' and ')}. Reload the page to try again.</p>
      )}
      <pre class="result-text">{text}</pre>
      <p class="fine">A row for each slot, a column for each day: {CATEGORIES}.</p>
      <div class="actions">
        <CopyButton label="Copy the result" text={text} main />
        <a href={week}>Open this week in One person</a>
      </div>
    </section>
  );
}
