/** The result of the day: the user's place among the rivals, and a text to copy. */
import { useSignal } from '@preact/signals';
import { placeOf, resultText, type Scored } from '../../daily/daily.js';
import { Button } from '../../parts/controls.js';
import type { EpisodeResult, Move } from '../../person/episode-types.js';
import { NOBODY } from '../../person/player-names.js';
import { addressOf } from '../person/fields.js';
import { RIVALS, rivals } from './rivals.js';

interface ShareProps {
  readonly day: string;
  readonly seed: number;
  readonly grader: string;
  readonly moves: readonly Move[];
  readonly result: EpisodeResult;
}

export function Share({ day, seed, grader, moves, result }: ShareProps) {
  const copied = useSignal<boolean | null>(null);
  // The shared text leaves kept students out, because other people do not have them.
  const finished = rivals.value.filter(({ name }) => RIVALS.includes(name));
  const mine: Scored = { name: 'you', finalScore: result.finalScore, beliefMae: result.beliefMae };
  const waiting = RIVALS.length - finished.length;
  const text = resultText({
    ...{ day, mine, rivals: finished, actions: moves.map(({ action }) => action) },
    link: `${location.href.replace(/#.*/, '')}#daily?day=${day}`,
  });
  const copy = async (): Promise<void> => {
    copied.value = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  };
  const week = addressOf({ seed, person: 'sampled', grader, by: 'hand', against: NOBODY, moves, at: 0 });
  return (
    <section class="panel share" aria-labelledby="share">
      <h2 id="share">{placeOf(mine, finished)}</h2>
      {waiting > 0 && <p class="note">Still playing: {RIVALS.slice(-waiting).join(' and ')} …</p>}
      <pre class="result-text">{text}</pre>
      <div class="actions">
        <Button main onClick={copy}>
          Copy the result
        </Button>
        <a href={week}>Open this week in One person</a>
      </div>
      <p class="note" role="status">
        {copied.value === true && 'Copied.'}
        {copied.value === false && 'This browser does not allow copying. Select the text above.'}
      </p>
    </section>
  );
}
