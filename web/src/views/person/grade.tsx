/** The grade taken apart, and what others would have scored with the same person and luck. */
import { COMPONENT_COLOURS } from '../../../../src/pictures/theme.js';
import { COMPONENT_FIELDS, COMPONENT_NAMES } from '../../../../src/world/fields.js';
import type { Ending } from '../../person/week.js';
import { signed, title } from '../../person/words.js';

interface GradeProps {
  readonly ending: Ending;
  readonly grader: string;
}

export function Grade({ ending, grader }: GradeProps) {
  const { finalScore, beliefMae, earlyMean, lateMean } = ending;
  return (
    <>
      <dl class="figures">
        <Figure name="Final score, 0 to 1" value={finalScore.toFixed(3)} note={`under grader ${grader}`} />
        <Figure name="Belief error, 0 to 1" value={beliefMae.toFixed(3)} note="mean of three" />
        <Figure name="Reward, first half" value={signed(earlyMean)} note="a slot, without luck" />
        <Figure name="Reward, second half" value={signed(lateMean)} note="a slot, without luck" />
      </dl>
      <p class="note">Component times weight; the parts sum to the final score.</p>
      <Parts ending={ending} />
    </>
  );
}

function Figure({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{note}</small>
      </dd>
    </div>
  );
}

function Parts({ ending: { components, weights, finalScore } }: { readonly ending: Ending }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="table" tabIndex={0} aria-label="The grade taken apart">
      <table class="parts">
        <thead>
          <tr>
            <th scope="col">component</th>
            <th scope="col">earned</th>
            <th scope="col">× weight</th>
            <th scope="col">= part</th>
          </tr>
        </thead>
        <tbody>
          {COMPONENT_NAMES.map((name, k) => (
            <tr key={name}>
              <th scope="row" title={COMPONENT_FIELDS[k].meaning}>
                <span class="with-bar">
                  <span>{title(name)}</span>
                  <PartBar component={components[k]} weight={weights[k]} colour={COMPONENT_COLOURS[k]} />
                </span>
              </th>
              <td>{components[k].toFixed(3)}</td>
              <td>{weights[k].toFixed(2)}</td>
              <td>{(components[k] * weights[k]).toFixed(3)}</td>
            </tr>
          ))}
          <tr class="sum">
            <th scope="row">Final score</th>
            <td />
            <td />
            <td>{finalScore.toFixed(3)}</td>
          </tr>
        </tbody>
      </table>
    </section>
  );
}

/** The largest weight there is fills the bar. */
const WIDEST = 0.3;

interface PartBarProps {
  readonly component: number;
  readonly weight: number;
  readonly colour: string;
}

/** What could be earned as an outline, what was as a fill. */
const PartBar = ({ component, weight, colour }: PartBarProps) => (
  <span class="bar" aria-hidden="true">
    <span class="part" style={{ width: `${(100 * weight) / WIDEST}%` }}>
      <span style={{ width: `${100 * component}%`, background: colour }} />
    </span>
  </span>
);

/** Beside the week that was played. */
export function Others({ ending }: { readonly ending: Ending }) {
  const mine = { name: 'this week', finalScore: ending.finalScore, beliefMae: ending.beliefMae };
  const rows = [...ending.others, mine].sort((a, b) => b.finalScore - a.finalScore);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="table" tabIndex={0} aria-label="What others would have scored">
      <table class="others">
        <thead>
          <tr>
            <th scope="col">played by</th>
            <th scope="col">final score</th>
            <th scope="col">belief error</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, finalScore, beliefMae }) => (
            <tr key={name} class={name === mine.name ? 'mine' : ''}>
              <th scope="row">
                <span class="with-bar">
                  <span>{name}</span>
                  <span class="track" aria-hidden="true">
                    <span class="fill" style={{ width: `${100 * finalScore}%` }} />
                  </span>
                </span>
              </th>
              <td>{finalScore.toFixed(3)}</td>
              <td>{beliefMae.toFixed(3)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
