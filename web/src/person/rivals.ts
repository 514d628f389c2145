/** Plays an episode with a policy in a worker. */

import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { OBSERVATION_SIZE } from '../../../src/world/fields.js';
import type { StudentFile } from '../students/student-files.js';
import type { EpisodeSetting, Rival } from './episode-types.js';
import { openPlayer } from './players.js';
import { begin, livedIn } from './replay.js';

/**
 * Returns the episode of a policy: its beliefs and its result. Other calls may run between two steps.
 * @param students students that were trained on the page. @param report called after each step with the number of steps.
 */
export async function playRival(
  name: string,
  setting: EpisodeSetting,
  students: readonly StudentFile[],
  report: (steps: number) => void,
): Promise<Rival> {
  const episode = begin(setting);
  using player = await openPlayer(name, setting, students);
  const observation = new Float32Array(OBSERVATION_SIZE);
  const beliefs: (readonly number[] | null)[] = [];
  while (!episode.terminated) {
    episode.observe(observation);
    const { action, belief } = player.decide(observation);
    beliefs.push(belief);
    episode.step(action, belief);
    report(episode.stepCount);
    await yieldTurn();
  }
  const { given, finalScore, beliefMae, components } = episode;
  return {
    ...{ name, beliefs, given, finalScore, beliefMae, lived: livedIn(episode) },
    components: components.slice(),
  };
}
