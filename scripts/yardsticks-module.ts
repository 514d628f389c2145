/** Formats the stored scores of the yardstick's policies as a module in Biome's format. */
import { evaluate } from '../src/evaluation/evaluate.js';
import { type StoredMeans, YARDSTICK_POLICIES } from '../src/evaluation/yardstick.js';
import { createWorld } from '../src/world/world.js';

/**
 * Plays the policies of the yardstick in the standard conditions under a grader. They are the stored policies that this process
 * has loaded.
 */
export async function playYardsticks(grader: string): Promise<StoredMeans[]> {
  const { rows } = await evaluate({ grader, policies: YARDSTICK_POLICIES });
  const first = rows.filter((_, i) => i % YARDSTICK_POLICIES.length === 0);
  return first.map(({ condition, seeds, profiles, episodes }, k) => {
    const own = rows.slice(k * YARDSTICK_POLICIES.length);
    const means = YARDSTICK_POLICIES.map((policy, i) => [policy, own[i].finalScore.mean]);
    return { grader, condition, seeds, profiles, episodes, means: Object.fromEntries(means) };
  });
}

/** Returns the whole module. Scores have at most five decimals. */
export const yardsticksModule = (means: readonly StoredMeans[]): string =>
  `/** The mean scores of the yardstick's policies. Made by \`npm run audits\`; do not edit. */

export const YARDSTICKS_DATA = {
  worldDigest: '${createWorld().digest}',
  means: [
${means.map(entryOf).join('\n')}
  ],
};
`;

const entryOf = ({ grader, condition, seeds, profiles, episodes, means }: StoredMeans): string => `    {
      grader: '${grader}',
      condition: '${condition}',
      seeds: '${seeds}',
      profiles: '${profiles}',
      episodes: ${episodes},
      means: {
${Object.entries(means)
  .map(([policy, mean]) => `        '${policy}': ${Number(mean.toFixed(5))},`)
  .join('\n')}
      },
    },`;
