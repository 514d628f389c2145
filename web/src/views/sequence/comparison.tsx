/** Why the best fixed sequence nearly matches the planner under v2, but not under v3: the reason and the mean scores. */
import { decimal } from '../../../../src/figures/theme.js';
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import type { SequenceScores } from '../../engine/sequence/sequence-scores.js';
import { Table } from '../../parts/table.js';
import { policyName } from '../../words.js';
import { auditedScore, COMPARED } from './audited.js';
import { ScoresTable } from './sequence-scores.js';

export function Comparison({ scores }: { readonly scores: SequenceScores | null }) {
  const behind = (grader: string): string =>
    decimal(auditedScore(grader, 'planner') - auditedScore(grader, 'open-loop+constant'), 2);
  const own = GRADER_NAMES.map((grader) =>
    scores === null ? '…' : decimal(scores.byGrader[grader].score.mean, 3),
  );
  const others = COMPARED.map((policy) => [
    policyName(policy),
    ...GRADER_NAMES.map((grader) => decimal(auditedScore(grader, policy), 3)),
  ]);
  return (
    <section class="panel" aria-labelledby="why">
      <h2 id="why">Why a fixed sequence nearly matches the planner under v2, but not under v3</h2>
      <p class="note">
        Grader v2 pays for an improvement from the first half of the week to the second, so a bad start raises
        the score with every person. The belief 0.5 raises it too. The best sequence is only {behind('v2')}{' '}
        behind the planner, which infers who the person is. Grader v3 pays for every slot of the week, and
        only for beliefs that fit the person. There the best sequence is {behind('v3')} behind the planner.
      </p>
      <Table
        caption="Mean final scores"
        columns={['Played by', ...GRADER_NAMES]}
        rows={[['this week, guessing 0.5', ...own], ...others]}
      />
      <p class="fine">
        The means of this sequence are those of the people in the histogram. The other means were measured in
        2,000 weeks, those of the planners in 100. A policy may infer only if its mean lies above those of the
        best sequence, of the policy that reacts to the meters and of the planner without inference; even then
        it need not.
      </p>
      {scores !== null && <ScoresTable scores={scores} />}
    </section>
  );
}
