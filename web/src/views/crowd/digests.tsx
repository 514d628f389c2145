/** The digests of the scores. Other machines and backends can compute them again, to verify the results. */
import { grouped } from '../../parts/grouped.js';
import { Table } from '../../parts/table.js';
import type { NamedCrowd } from './format.js';

export function Digests({ crowd }: { readonly crowd: NamedCrowd }) {
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
        rows={policies.map(({ code, score, digest }) => [code, score.mean.toFixed(12), digest])}
      />
    </section>
  );
}
