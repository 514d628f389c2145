/** With whom the policies are compared. */
import { Select, TextField } from '../../parts/controls.js';
import type { ViewProps } from '../view.js';
import { GRADERS_FIELDS, PEOPLE } from './fields.js';
import { played } from './play.js';

export function PeoplePanel({ state, change }: ViewProps<typeof GRADERS_FIELDS>) {
  const wanted = Number(state.people);
  const done = Math.min(wanted, played.value?.people ?? 0);
  return (
    <section class="panel" aria-labelledby="people">
      <h2 id="people">With whom</h2>
      <div class="controls">
        <Select
          label="People"
          value={state.people}
          names={PEOPLE}
          words={Object.fromEntries(PEOPLE.map((count) => [count, Number(count).toLocaleString('en')]))}
          hint="To infer takes some 20 ms a person and policy."
          onChange={(people) => change({ people })}
        />
        <TextField
          label="First seed"
          field={GRADERS_FIELDS.seed}
          value={state.seed}
          hint="From 20000 on nothing was tuned."
          onChange={(seed) => change({ seed })}
        />
      </div>
      <p class="played">
        <progress value={done} max={wanted} aria-label="People played with" />
        <span>
          {done.toLocaleString('en')} of {wanted.toLocaleString('en')} people
        </span>
      </p>
      <p class="fine">
        Twelve policies play everybody’s week here, on the reference in a worker: what is ranked are all
        people that were played with so far. The planners are left out: on the reference one week takes them
        ten seconds.
      </p>
    </section>
  );
}
