/** Plays the episodes of all ranked policies, with the same profiles for each. */
import { Inference } from '../../../src/agents/inference/inference.js';
import { findPolicy } from '../../../src/agents/policies/fixed-policies.js';
import { readStudent } from '../../../src/agents/student/student.js';
import { toGrader } from '../../../src/engine/graders/grader.js';
import type { PolicyPlayer } from '../../../src/engine/policy/policy.js';
import type { VecEnv } from '../../../src/engine/vec-env/vec-env.js';
import type { StudentFile } from '../person/episode.js';
import { playSteps } from '../workers/platform.js';
import { RANKED_POLICIES, type RankedPolicy } from './verdict.js';

/**
 * Plays one episode per seed with every ranked policy. @param seeds u32 [numEnvs], which determine profiles and noise.
 * @param students students that were trained on the page.
 * @returns the components of each policy, f32 [n, NUM_COMPONENTS]: first RANKED_POLICIES in their order, then the students.
 * @throws InputError `bad_student`.
 */
export async function playPolicies(
  env: VecEnv,
  seeds: Uint32Array,
  students: readonly StudentFile[] = [],
): Promise<Float32Array[]> {
  const { numEnvs, world } = env;
  const components: Float32Array[] = [];
  for (const policy of RANKED_POLICIES) components.push((await play(env, policy, seeds)).components.slice());
  for (const { file } of students) {
    const player = readStudent(file).open({ numEnvs, grader: null, world });
    components.push((await playSteps(env, player, { seed: seeds })).components.slice());
  }
  return components;
}

async function play(env: VecEnv, { actions, sequenceGrader, beliefs }: RankedPolicy, seeds: Uint32Array) {
  const { numEnvs, world } = env;
  const policy = findPolicy(beliefs === 'constant' ? `${actions}+constant` : actions);
  const grader = toGrader(sequenceGrader ?? 'v2');
  if (beliefs === 'inference')
    return playSteps(env, inferring(env, policy.open({ numEnvs, world, grader })), { seed: seeds });
  env.reset({ seed: seeds });
  return env.run(policy.choice(numEnvs, grader.name), policy.options);
}

/**
 * Returns a player with the same actions that states inferred beliefs from step `beliefSkillFrom` on, the first that
 * `belief_skill` counts. They have the smallest expected absolute error, whatever the weights of the grader.
 */
function inferring({ world, numEnvs }: VecEnv, player: PolicyPlayer): PolicyPlayer {
  const inference = new Inference(world, numEnvs);
  return {
    reset: (episodes) => player.reset!(episodes),
    async act(view) {
      inference.observe(view.observations);
      const isGraded = view.steps[0] >= world.params.beliefSkillFrom;
      return { ...(await player.act(view)), beliefs: isGraded ? inference.beliefs() : null };
    },
  };
}
