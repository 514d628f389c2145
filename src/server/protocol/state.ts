/** The public part of an episode's state, which the message `state` returns. */
import { z } from 'zod';
import { MAX_U32, NUM_STEPS } from '../../world/fields.js';
import type { EpisodeRequest } from './reset-request.js';

export const STATE_SCHEMA = z.looseObject({
  episode_id: z.string().nullable().describe('null before the first reset'),
  step_count: z.int().min(0).max(NUM_STEPS),
  seed: z.int().min(0).max(MAX_U32).optional().describe('as given or drawn; absent before the first reset'),
  profile: z.string().optional().describe('as in the reset'),
  grader: z.string().optional().describe('by name'),
});

/** Returns the public state. @param episode null before the first reset. */
export const stateOf = (episode: EpisodeRequest | null, steps: number): z.input<typeof STATE_SCHEMA> =>
  episode === null
    ? { episode_id: null, step_count: 0 }
    : {
        episode_id: episode.id,
        step_count: steps,
        seed: episode.seed,
        profile: episode.profile,
        grader: episode.graderName,
      };
