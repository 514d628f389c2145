/** Plays episodes with a student of the package on the reference. Node and pages run this code. */
import { loadStudent, type StudentName } from '../../src/agents/student/packaged-students.js';
import { Episode } from '../../src/engine/reference/episode.js';
import { NUM_STEPS, OBSERVATION_SIZE } from '../../src/world/fields.js';
import { createWorld } from '../../src/world/world.js';

/** The seeds of the 150 evaluation episodes: 0 to 99 and 10000 to 10049. */
export const EVALUATION_SEEDS = Array.from({ length: 150 }, (_, k) => (k < 100 ? k : 9900 + k));

/** The decisions in n episodes, sorted by step, then by episode. */
export interface StudentEpisodes {
  /** [28 * n]. */
  readonly actions: number[];
  /** [28 * n * 3]. */
  readonly beliefs: number[];
}

/** Plays an episode of each seed. */
export async function playStudent(name: StudentName, seeds: readonly number[]): Promise<StudentEpisodes> {
  const student = await loadStudent(name);
  const { grader } = student.manifest;
  const player = student.open({ numEnvs: seeds.length, grader, world: createWorld() });
  const episodes = seeds.map((seed) => new Episode().reset(seed, {}));
  const observations = new Float32Array(seeds.length * OBSERVATION_SIZE);
  const playing = new Uint8Array(seeds.length).fill(1);
  const [actions, beliefs]: [number[], number[]] = [[], []];
  for (let step = 0; step < NUM_STEPS; step++) {
    for (const [i, episode] of episodes.entries()) episode.observe(observations, i * OBSERVATION_SIZE);
    const chosen = player.act({ observations, playing, steps: playing.map(() => step) });
    // A belief would change only the grade, which nobody reads here.
    for (const [i, episode] of episodes.entries()) episode.step(chosen.actions[i], null);
    actions.push(...chosen.actions);
    beliefs.push(...chosen.beliefs);
  }
  return { actions, beliefs };
}
