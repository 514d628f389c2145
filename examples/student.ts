/**
 * `npx tsx examples/student.ts`: trains a small student to imitate a policy, refines it (docs/students.md, Refinement), and
 * compares the student before and after the refinement with the policy. Needs the package `@jax-js/jax`.
 */
import { evaluate, readStudent } from 'rhythm-vec';
import { trainStudent } from 'rhythm-vec/training';

/** A teacher that does not plan, so it is fast. The default is the planner. */
const teacher = 'open-loop+inference';
/** The student before the refinement. */
const clone = readStudent(await trainStudent({ teacher, episodes: 100, rounds: 0, epochs: 20 }));
const refined = readStudent(
  await trainStudent({
    from: clone,
    refineEpisodes: 800,
    refineBatch: 200,
    onProgress: ({ done, stage }) => process.stderr.write(`${stage}: ${done} %\n`),
  }),
);
const seeds = { first: 20000, last: 20099 };
const { rows } = await evaluate({ policies: { [teacher]: teacher, clone, refined }, seeds });
for (const { policy, finalScore, beliefMae } of rows) {
  const halfWidth = finalScore.mean - finalScore.low!;
  console.log(
    `${policy.padEnd(20)} ${finalScore.mean.toFixed(3)} ±${halfWidth.toFixed(3)}  MAE ${beliefMae.toFixed(3)}`,
  );
}
