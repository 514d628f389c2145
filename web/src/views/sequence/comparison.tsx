/** Why a fixed sequence wins under one grader and not under another: the means side by side, and the reason. */
import { decimal } from '../../../../src/figures/format-numbers.js';
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import type { SequenceScores } from '../../engine/sequence/sequence-scores.js';
import { Table } from '../../parts/table.js';
import { auditedScore, COMPARED, type Compared } from './audited.js';
import { ScoresTable } from './sequence-scores.js';

export function Comparison({ scores }: { readonly scores: SequenceScores | null }) {
  const behind = (grader: string): string =>
    decimal(auditedScore(grader, 'planner') - auditedScore(grader, 'open-loop+constant'), 2);
  const own = GRADER_NAMES.map((grader) =>
    scores === null ? '…' : decimal(scores.byGrader[grader].score.mean, 3),
  );
  const others = (Object.keys(COMPARED) as Compared[]).map((policy) => [
    COMPARED[policy],
    ...GRADER_NAMES.map((grader) => decimal(auditedScore(grader, policy), 3)),
  ]);
  return (
    <section class="panel" aria-labelledby="why">
      <h2 id="why">Why a fixed sequence wins under v2, and not under v3</h2>
      <p class="note">
        v2 pays for the second half of the week minus the first, so a bad start earns with everybody, and the
        belief 0.5 earns too: the best sequence is only {behind('v2')} behind the planner, which finds out who
        it is. v3 pays for every slot of the week, and only for beliefs that fit the person: the best sequence
        is {behind('v3')} behind.
      </p>
      <Table
        caption="Mean final scores"
        columns={['Played by', ...GRADER_NAMES]}
        rows={[['this one, belief 0.5', ...own], ...others]}
      />
      <p class="fine">
        This sequence: the people of the histogram. The others: measured in 2,000 weeks, the planner in 100.
      </p>
      {scores !== null && <ScoresTable scores={scores} />}
    </section>
  );
}
