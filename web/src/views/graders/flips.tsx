/** The nearest weights at which two policies change places in the ranking. */
import type { Flip, WeightSensitivity } from '../../../../src/evaluation/weight-sensitivity.js';
import { beyond } from '../../graders/ticks.js';
import { title } from '../../person/descriptions.js';

interface FlipsProps {
  /** Null while they are computed. */
  readonly rows: readonly WeightSensitivity[] | null;
  /** Moves weight k to `to` thousandths. */
  readonly jump: Jump;
}

export type Jump = (k: number, to: number) => void;

export function Flips({ rows, jump }: FlipsProps) {
  return (
    <section class="panel" aria-labelledby="flips" aria-busy={rows === null}>
      <h2 id="flips">Where the ranking changes</h2>
      <p class="note">
        For each component: the nearest smaller and the nearest larger weight at which two neighbours of the
        ranking change places, while the other weights keep their proportions. Press a number to set that
        weight. The marks below the sliders do the same.
      </p>
      {rows === null ? (
        <p class="fine">Computing the nearest changes of the ranking …</p>
      ) : (
        <FlipsTable rows={rows} jump={jump} />
      )}
    </section>
  );
}

interface FlipsTableProps {
  readonly rows: readonly WeightSensitivity[];
  readonly jump: Jump;
}

function FlipsTable({ rows, jump }: FlipsTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
    <section class="table" tabIndex={0} aria-label="Where the ranking changes, as a table">
      <table class="flips">
        <thead>
          <tr>
            <th scope="col">weight of</th>
            <th scope="col">now</th>
            <th scope="col">smaller weight</th>
            <th scope="col">larger weight</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ component, weight, below, above }, k) => (
            <tr key={component}>
              <th scope="row">{title(component)}</th>
              <td>{weight.toFixed(3)}</td>
              <FlipCell flip={below} now={weight} jump={(to) => jump(k, to)} />
              <FlipCell flip={above} now={weight} jump={(to) => jump(k, to)} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface FlipCellProps {
  readonly flip: Flip | null;
  readonly now: number;
  readonly jump: (to: number) => void;
}

function FlipCell({ flip, now, jump }: FlipCellProps) {
  if (flip === null) return <td>changes nothing</td>;
  return (
    <td>
      <button type="button" class="jump" onClick={() => jump(beyond(flip, now))}>
        {flip.weight.toFixed(3) === now.toFixed(3) ? 'any change' : flip.weight.toFixed(3)}
      </button>
      <small>
        <Name of={flip.policy} /> passes <Name of={flip.passed} />
      </small>
    </td>
  );
}

/** A policy's name, which may wrap before the belief. */
function Name({ of: name }: { readonly of: string }) {
  const [actions, belief] = name.split('+');
  return (
    <span class="policy">
      {actions}
      {belief !== undefined && (
        <>
          +<wbr />
          {belief}
        </>
      )}
    </span>
  );
}
