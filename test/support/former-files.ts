/** Files that the last release of world 1.0.0 wrote. They have that world's digest and six components. */
import { readFileSync } from 'node:fs';

const read = (name: string): string =>
  readFileSync(new URL(`../golden/world-1.0.0/${name}`, import.meta.url), 'utf8');

export const FORMER_FILES = {
  /** Two episodes: one under v2 without prompts and completions, one with them under a grader called calm. */
  trajectories: read('trajectories.jsonl'),
  /** Four policies on the seeds 100 to 103, under v2. */
  components: read('components.jsonl'),
} as const;
