/** The main results of the crowd: mean scores, their difference, which policy scores more, and the speed. */
import { decimal, signed } from '../../../../src/figures/theme.js';
import { colourOf } from '../../charts/policy-colours.js';
import type { CrowdPairing } from '../../engine/crowd/crowd-request.js';
import { halfWidth, type NamedCrowd, type NamedPolicy, percent, rounded } from './format.js';

export function CrowdFigures({ crowd }: { readonly crowd: NamedCrowd }) {
  const { policies, pairing, steps, seconds } = crowd;
  return (
    <section class="panel" aria-labelledby="crowd-figures">
      <h2 id="crowd-figures">Results</h2>
      <dl class="figures">
        {policies.map((policy) => (
          <Mean key={policy.code} policy={policy} />
        ))}
        {pairing !== null && <Pair pairing={pairing} names={policies.map(({ name }) => name)} />}
        <div>
          <dt>Speed</dt>
          <dd>
            {rounded(steps / seconds)}
            <small>
              steps per second: {rounded(steps)} steps in {seconds.toFixed(seconds < 10 ? 2 : 1)} s
            </small>
          </dd>
        </div>
      </dl>
      <p class="fine">± is half of the 95 % interval.</p>
    </section>
  );
}

function Mean({ policy }: { readonly policy: NamedPolicy }) {
  return (
    <div>
      <dt>
        <svg class="swatch" viewBox="0 0 8 8" aria-hidden="true">
          <rect width="8" height="8" rx="2" fill={colourOf(policy.code)} />
        </svg>
        {policy.name} {policy.code !== policy.name && <small>{policy.code}</small>}
      </dt>
      <dd>
        {decimal(policy.score.mean, 4)}
        <small>mean final score, {halfWidth(policy.score, 4)}</small>
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
          <small>mean difference for the same people, {halfWidth(difference, 4)}</small>
        </dd>
      </div>
      <div>
        <dt>Higher score</dt>
        <dd>
          {percent(better)}
          <small>
            of the people score more under {first} than under {second}
            {same > 0 && `; ${percent(same)} score the same`}
          </small>
        </dd>
      </div>
    </>
  );
}
