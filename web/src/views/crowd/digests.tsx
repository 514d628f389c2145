/** The digests of the scores. Other machines and backends can compute them again, to verify the results. */
import type { Crowd } from '../../engine/crowd/crowd-request.js';
import { grouped } from '../../parts/grouped.js';
import { Table } from '../../parts/table.js';

export function Digests({ crowd }: { readonly crowd: Crowd }) {
  const { policies, numEpisodes, request } = crowd;
  const { seed, grader, profiles } = request;
  return (
    <section class="panel" aria-labelledby="crowd-proof">
      <h2 id="crowd-proof">The same numbers everywhere</h2>
      <p class="note">
        Every backend computes the same bits. The digest is the SHA-256 of the {grouped(numEpisodes)} final
        scores under grader {grader}, written as little-endian 32-bit floats. They are the scores of people
        with the seeds from {seed} on and {profiles} profiles.
      </p>
      <Table
        caption="Means and digests"
        columns={['Policy', 'Mean final score', 'SHA-256 of the final scores']}
        rows={policies.map(({ name, score, digest }) => [name, score.mean.toFixed(12), digest])}
      />
    </section>
  );
}
