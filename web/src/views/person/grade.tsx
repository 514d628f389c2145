/** The components of the grade, and the scores of policies in the same episode. */
import { COMPONENT_COLOURS, decimal } from '../../../../src/figures/theme.js';
import { COMPONENT_FIELDS, COMPONENT_NAMES } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { colourOf } from '../../charts/policy-colours.js';
import { type Axis, placeOf, stackOf } from '../../parts/stack.js';
import { signed, title } from '../../person/descriptions.js';
import type { EpisodeResult, Rival } from '../../person/episode-types.js';

interface GradeProps {
  readonly result: EpisodeResult;
  readonly grader: string;
}

export function Grade({ result, grader }: GradeProps) {
  const { finalScore, given, beliefMae, firstHalfMean, secondHalfMean } = result;
  return (
    <>
      <dl class="figures">
        <Figure name="Final score, 0 to 1" value={finalScore.toFixed(3)} note={`under grader ${grader}`} />
        <Figure
          name="Belief error, 0 to 1"
          value={beliefMae.toFixed(3)}
          note={given ? 'mean of three errors' : 'of 0.5, as none was stated'}
        />
        <Figure name="Reward, first half" value={signed(firstHalfMean)} note="per slot, without luck" />
        <Figure name="Reward, second half" value={signed(secondHalfMean)} note="per slot, without luck" />
      </dl>
      <p class="note">
        Component times weight. The final score is the sum of the parts, at least 0 and at most 1.
      </p>
      <Parts result={result} />
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

function Parts({ result: { components, weights, finalScore } }: { readonly result: EpisodeResult }) {
  const parts = Array.from(components, (component, k) => component * weights[k]);
  const axis = { low: Math.min(0, ...parts), high: WIDEST };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
    <section class="table" tabIndex={0} aria-label="The components of the grade">
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
                  <PartBar part={parts[k]} weight={weights[k]} axis={axis} colour={COMPONENT_COLOURS[k]} />
                </span>
              </th>
              <td>{decimal(components[k], 3)}</td>
              <td>{weights[k].toFixed(2)}</td>
              <td>{decimal(parts[k], 3)}</td>
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

/** The upper end of the axis of the bars: the largest weight of the built-in graders. */
const WIDEST = Math.max(...Object.values(RHYTHM.graders).flat());

interface PartBarProps {
  readonly part: number;
  readonly weight: number;
  readonly axis: Axis;
  readonly colour: string;
}

/** A bar: the outline shows the weight, the fill shows the part of the score, left of 0 if it is negative. */
const PartBar = ({ part, weight, axis, colour }: PartBarProps) => (
  <span class="part" aria-hidden="true">
    <span class="earned" style={{ ...placeOf(stackOf([part])[0], axis), background: colour }} />
    <span class="weight" style={placeOf({ start: 0, end: weight }, axis)} />
  </span>
);

interface OthersProps {
  readonly result: EpisodeResult;
  /** The policies that the user raced against. */
  readonly rivals: readonly Rival[];
}

/** The scores of policies, beside that of this episode. */
export function Others({ result, rivals }: OthersProps) {
  const mine = { name: 'this week', finalScore: result.finalScore, beliefMae: result.beliefMae };
  const raced = rivals.filter(({ name }) => result.others.every((other) => other.name !== name));
  const rows = [...result.others, ...raced, mine].sort((a, b) => b.finalScore - a.finalScore);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
    <section class="table" tabIndex={0} aria-label="Scores of policies, as a table">
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
                    <span
                      class="fill"
                      style={{
                        width: `${100 * finalScore}%`,
                        background: name === mine.name ? 'var(--player)' : colourOf(name),
                      }}
                    />
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
