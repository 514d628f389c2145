/** Plays an episode with a policy that the user plays against, in a worker. */

import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { Episode } from '../../../src/engine/reference/episode.js';
import { OBSERVATION_SIZE } from '../../../src/world/fields.js';
import type { StudentFile } from '../students/student-files.js';
import type { EpisodeSetting, Rival } from './episode-types.js';
import { openPlayer } from './players.js';

/**
 * Returns the episode of a policy: its beliefs and its result. Other calls may run between two steps.
 * @param students students that were trained on the page.
 */
export async function playRival(
  name: string,
  setting: EpisodeSetting,
  students: readonly StudentFile[],
): Promise<Rival> {
  const { seed, profile, grader } = setting;
  const episode = new Episode().reset(seed, { profile, grader });
  using player = await openPlayer(name, setting, students);
  const observation = new Float32Array(OBSERVATION_SIZE);
  const beliefs: (readonly number[] | null)[] = [];
  while (!episode.terminated) {
    episode.observe(observation);
    const { action, belief } = player.decide(observation);
    beliefs.push(belief);
    episode.step(action, belief);
    await yieldTurn();
  }
  return { name, beliefs, finalScore: episode.finalScore, beliefMae: episode.beliefMae };
}
