/**
 * `npx tsx examples/evaluation.ts`: evaluates policies under two of the published conditions, with grader v2 and with a
 * custom grader.
 */
import { evaluate, type Grader, type GraderLike, parseGrader } from 'rhythm-vec';

const calm: Grader = parseGrader(
  '{"name": "calm", "weights": {"crash_free": 0.5, "efficiency": 0.3, "belief_accuracy": 0.2}}',
);
const policies = ['random', 'heuristic', 'heuristic+constant'];
for (const grader of ['v2', calm] satisfies GraderLike[]) {
  const evaluation = await evaluate({ policies, grader, conditions: ['in-distribution', 'ood'] });
  console.log(`grader ${evaluation.grader}`);
  for (const { condition, policy, belief, finalScore, beliefMae } of evaluation.rows) {
    const name = belief === 'none' ? policy : `${policy}+${belief}`;
    const halfWidth = finalScore.mean - finalScore.low!;
    console.log(
      `  ${condition.padEnd(16)}${name.padEnd(20)}${finalScore.mean.toFixed(3)} ±${halfWidth.toFixed(3)}  MAE ${beliefMae.toFixed(3)}`,
    );
  }
}
