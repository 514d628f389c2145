/** The numbers of the crowd: mean scores, for whom one policy is better and by how much, and the speed. */
import { decimal } from '../../../../src/figures/theme.js';
import { colourOf } from '../../charts/policy-colours.js';
import { PolicyName } from '../../parts/policy-name.js';
import { halfWidth, type NamedCrowd, percent, rounded } from './format.js';

export function CrowdFigures({ crowd }: { readonly crowd: NamedCrowd }) {
  const { policies, steps, seconds } = crowd;
  return (
    <dl class="figures">
      {policies.map(({ code, score }) => (
        <div key={code}>
          <dt>
            <svg class="swatch" viewBox="0 0 8 8" aria-hidden="true">
              <rect width="8" height="8" rx="2" fill={colourOf(code)} />
            </svg>
            <PolicyName of={code} />
          </dt>
          <dd>
            {decimal(score.mean, 4)}
            <small>mean final score, {halfWidth(score, 4)}</small>
          </dd>
        </div>
      ))}
      <Advantage crowd={crowd} />
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
  );
}

/** For how many people the policy that is better for more of them is better, and by how much on average. */
function Advantage({ crowd: { policies, pairing } }: { readonly crowd: NamedCrowd }) {
  if (pairing === null) return null;
  const { difference, better, same } = pairing;
  const worse = 1 - better - same;
  const [{ name }, share, gain] =
    better > worse ? [policies[0], better, difference.mean] : [policies[1], worse, -difference.mean];
  return (
    <div>
      <dt>Higher score</dt>
      <dd>
        {percent(share)}
        <small>
          of the people under {name}, on average by {decimal(gain, 4)} {halfWidth(difference, 4)}
          {same > 0 && `; ${percent(same)} score the same`}
        </small>
      </dd>
    </div>
  );
}
