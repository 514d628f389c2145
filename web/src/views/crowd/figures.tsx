/** The crowd in a few numbers. */
import { decimal, signed } from '../../../../src/pictures/numbers.js';
import { ACCENT, SERIES } from '../../../../src/pictures/theme.js';
import type { Crowd, CrowdPairing, CrowdPlayer } from '../../engine/crowd/request.js';
import { percent, rough, spread } from './words.js';

/** As the histogram has them. */
const COLOURS = [SERIES, ACCENT];

export function CrowdFigures({ crowd }: { readonly crowd: Crowd }) {
  const { players, pairing, steps, seconds } = crowd;
  return (
    <section class="panel" aria-labelledby="crowd-figures">
      <h2 id="crowd-figures">What it came to</h2>
      <dl class="figures">
        {players.map((player, k) => (
          <Mean key={player.name} player={player} colour={COLOURS[k]} />
        ))}
        {pairing !== null && <Pair pairing={pairing} names={players.map(({ name }) => name)} />}
        <div>
          <dt>Speed</dt>
          <dd>
            {rough(steps / seconds)}
            <small>
              steps a second: {rough(steps)} steps in {seconds.toFixed(seconds < 10 ? 2 : 1)} s
            </small>
          </dd>
        </div>
      </dl>
      <p class="fine">± is half of the 95 % interval.</p>
    </section>
  );
}

function Mean({ player, colour }: { readonly player: CrowdPlayer; readonly colour: string }) {
  return (
    <div>
      <dt>
        <svg class="swatch" viewBox="0 0 8 8" aria-hidden="true">
          <rect width="8" height="8" rx="2" fill={colour} />
        </svg>
        {player.name}
      </dt>
      <dd>
        {decimal(player.score.mean, 4)}
        <small>mean final score, {spread(player.score, 4)}</small>
      </dd>
    </div>
  );
}

function Pair({ pairing, names }: { readonly pairing: CrowdPairing; readonly names: readonly string[] }) {
  const { difference, better, same } = pairing;
  const [first, second] = names;
  return (
    <>
      <div>
        <dt>Difference</dt>
        <dd>
          {signed(difference.mean, 4)}
          <small>on the same people, {spread(difference, 4)}</small>
        </dd>
      </div>
      <div>
        <dt>Better off</dt>
        <dd>
          {percent(better)}
          <small>
            of the people under {first} rather than {second}
            {same > 0 && `; the same for ${percent(same)}`}
          </small>
        </dd>
      </div>
    </>
  );
}
