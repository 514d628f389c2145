/** The belief of a rival beside the user's, after the same number of steps. */
import { useLayoutEffect } from 'preact/hooks';
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { colourOf } from '../../charts/policy-colours.js';
import { Select } from '../../parts/controls.js';
import { title } from '../../person/descriptions.js';
import type { EpisodeSetting, Move } from '../../person/episode-types.js';
import { NOBODY } from '../../person/player-names.js';
import { keptStudents } from '../../students/kept-students.js';
import { hasFailed, playRivals, rivalNamed } from './rivals.js';

interface RaceProps {
  readonly setting: EpisodeSetting;
  /** The user's moves so far. */
  readonly moves: readonly Move[];
  /** The policies to choose from. Kept students are added. */
  readonly names: readonly string[];
  /** The chosen rival, or NOBODY. */
  readonly against: string;
  readonly choose: (name: string) => void;
}

export function Race({ setting, moves, names, against, choose }: RaceProps) {
  useLayoutEffect(() => {
    if (against !== NOBODY) void playRivals(setting, [against]);
  }, [JSON.stringify(setting), against]);
  const rival = rivalNamed(setting, against);
  const failed = hasFailed(setting, against);
  const theirs = rival?.beliefs[moves.length - 1] ?? null;
  const mine = moves.at(-1)?.belief ?? null;
  return (
    <section class="panel race" aria-labelledby="race">
      <h2 id="race">Race</h2>
      <Select
        label="Against"
        value={against}
        names={[NOBODY, ...keptStudents.value.map(({ name }) => name), ...names]}
        hint="A policy plays the same person with the same luck. The table and the chart show its belief after as many slots as you have played."
        onChange={choose}
      />
      {against !== NOBODY && rival === null && !failed && <p class="note">{against} is still playing …</p>}
      {failed && <p class="note">{against} could not play this episode. Reload the page to try again.</p>}
      {rival !== null && moves.length === 0 && <p class="note">Play your first slot to see the beliefs.</p>}
      {rival !== null && moves.length > 0 && theirs === null && (
        <p class="note">{against} states no belief. Its score is shown at the end.</p>
      )}
      {theirs !== null && (
        <table class="beliefs-race">
          <thead>
            <tr>
              <th scope="col">belief</th>
              <td />
              <th scope="col">you</th>
              <th scope="col">{against}</th>
            </tr>
          </thead>
          <tbody>
            {BELIEF_NAMES.map((belief, k) => (
              <tr key={belief}>
                <th scope="row">{title(belief)}</th>
                <td class="bar" aria-hidden="true">
                  <span class="track">
                    <span
                      class="rival-mark"
                      style={{ left: `${100 * theirs[k]}%`, background: colourOf(against) }}
                    />
                    {mine !== null && <span class="stated-mark" style={{ left: `${100 * mine[k]}%` }} />}
                  </span>
                </td>
                <td>{mine?.[k].toFixed(2) ?? '–'}</td>
                <td>{theirs[k].toFixed(2)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
