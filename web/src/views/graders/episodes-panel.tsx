/** The settings of the episodes in which policies are compared (number and seeds), and the progress. */

import { Select, TextField } from '../../parts/controls.js';
import { grouped } from '../../parts/grouped.js';
import type { ViewProps } from '../view.js';
import { GRADERS_FIELDS, PEOPLE } from './fields.js';
import { results } from './results-store.js';

export function EpisodesPanel({ state, change }: ViewProps<typeof GRADERS_FIELDS>) {
  const requested = Number(state.people);
  const done = Math.min(requested, results.value?.numEpisodes ?? 0);
  return (
    <section class="panel" aria-labelledby="people">
      <h2 id="people">The people</h2>
      <div class="controls">
        <Select
          label="People"
          value={state.people}
          names={PEOPLE}
          labels={Object.fromEntries(PEOPLE.map((count) => [count, grouped(Number(count))]))}
          hint="Inference takes about 30 ms per person and policy."
          onChange={(people) => change({ people })}
        />
        <TextField
          label="First seed"
          field={GRADERS_FIELDS.seed}
          value={state.seed}
          hint="No policy of the ranking was tuned on the seeds from 20000 on."
          onChange={(seed) => change({ seed })}
        />
      </div>
      <p class="played">
        <progress value={done} max={requested} aria-label="People so far" />
        <span>
          {grouped(done)} of {grouped(requested)} people
        </span>
      </p>
      <p class="fine">
        Each policy plays a week with each person, on the TypeScript reference in a worker. The ranking covers
        the people so far. Students that you keep in Train play too. The planners are left out: in a browser
        they take about five seconds per week.
      </p>
    </section>
  );
}
