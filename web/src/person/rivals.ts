/** Plays the day's person with a policy, in a worker. */
import { Episode } from '../../../src/engine/reference/episode.js';
import { yieldTurn } from '../../../src/engine/vec-env/yield-turn.js';
import { OBSERVATION_SIZE } from '../../../src/world/fields.js';
import type { EpisodeSetting, Rival } from './episode-types.js';
import { openPlayer } from './players.js';

/** Returns the episode of a policy: its beliefs and its result. Other calls run between two steps. */
export async function playRival(name: string, setting: EpisodeSetting): Promise<Rival> {
  const { seed, profile, grader } = setting;
  const episode = new Episode().reset(seed, { profile, grader });
  using player = await openPlayer(name, setting);
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
