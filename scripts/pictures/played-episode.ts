/** Plays one episode with a policy, for the pictures. */
import { findBuiltin } from '../../src/agents/policies/stepped-policies.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import { Episode } from '../../src/engine/reference/episode.js';
import { METER_NAMES, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../src/world/fields.js';
import { createWorld } from '../../src/world/world.js';

export interface PlayedEpisode {
  readonly policy: string;
  /** Codes, [28]. */
  readonly actions: readonly number[];
  /** [28]: the stated belief; null for none. */
  readonly beliefs: readonly (readonly number[] | null)[];
  /** [29, 5]: the meters at the start and after each step. */
  readonly meters: readonly (readonly number[])[];
  /** [3]: the belief target. */
  readonly target: readonly number[];
  readonly finalScore: number;
  readonly beliefMae: number;
}

/** Plays the episode of a seed, with a sampled profile. @param grader such as "v3". */
export async function playEpisode(policy: string, seed: number, grader: string): Promise<PlayedEpisode> {
  const episode = new Episode().reset(seed, { profile: 'sampled', grader });
  const setting = { numEnvs: 1, grader: toGrader(grader), world: createWorld(), backend: 'auto' };
  using player = await findBuiltin(policy).open(setting);
  const playing = Uint8Array.of(1);
  await player.reset({ mask: playing, seeds: Uint32Array.of(seed), profiles: () => episode.profile });
  const observations = new Float32Array(OBSERVATION_SIZE);
  const metersNow = (): number[] => {
    episode.observe(observations);
    return Array.from(observations.subarray(OBSERVATION.meters, OBSERVATION.meters + METER_NAMES.length));
  };
  const [actions, beliefs, meters]: [number[], (number[] | null)[], number[][]] = [[], [], [metersNow()]];
  for (let step = 0; step < NUM_STEPS; step++) {
    const decision = await player.act({ observations, steps: Uint8Array.of(step), playing });
    const belief = decision.beliefs === null ? null : Array.from(decision.beliefs);
    episode.step(decision.actions[0], belief);
    actions.push(decision.actions[0]);
    beliefs.push(belief);
    meters.push(metersNow());
  }
  const { finalScore, beliefMae } = episode;
  return { policy, actions, beliefs, meters, target: Array.from(episode.target), finalScore, beliefMae };
}
