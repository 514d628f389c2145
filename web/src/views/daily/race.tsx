/** The belief of a rival beside the user's, step by step. */
import { useSignal } from '@preact/signals';
import { BELIEF_NAMES } from '../../../../src/world/fields.js';
import { Select } from '../../parts/controls.js';
import { title } from '../../person/descriptions.js';
import type { Move } from '../../person/episode-types.js';
import { RIVALS, rivals } from './rivals.js';

const NOBODY = 'nobody';

/** @param moves of the user, so far. */
export function Race({ moves }: { readonly moves: readonly Move[] }) {
  const name = useSignal(NOBODY);
  const rival = rivals.value.find((each) => each.name === name.value);
  const theirs = rival?.beliefs[moves.length - 1] ?? null;
  const mine = moves.at(-1)?.belief ?? null;
  return (
    <section class="panel race" aria-labelledby="race">
      <h2 id="race">Race</h2>
      <Select
        label="Against"
        value={name.value}
        names={[NOBODY, ...RIVALS.slice(1)]}
        hint="It plays the same person with the same luck. You see what it believes after as many slots as you."
        onChange={(next) => {
          name.value = next;
        }}
      />
      {name.value !== NOBODY && rival === undefined && <p class="note">{name.value} is still playing …</p>}
      {rival !== undefined && moves.length === 0 && <p class="note">Play your first slot.</p>}
      {theirs !== null && (
        <table class="beliefs-race">
          <thead>
            <tr>
              <th scope="col">belief</th>
              <td />
              <th scope="col">you</th>
              <th scope="col">{name.value}</th>
            </tr>
          </thead>
          <tbody>
            {BELIEF_NAMES.map((belief, k) => (
              <tr key={belief}>
                <th scope="row">{title(belief)}</th>
                <td class="bar" aria-hidden="true">
                  <span class="track">
                    <span class="rival-mark" style={{ left: `${100 * theirs[k]}%` }} />
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
