/** How an episode is begun: what `reset` takes. */
import { z } from 'zod';
import { RhythmError } from '../../errors.js';
import { type Grader, graderWeights, validateGrader } from '../../graders/grader.js';
import { checkName } from '../../validate/values.js';
import { GRADER_NAMES, MAX_U32, PROFILE_NAMES } from '../../world/fields.js';
import { type Refusal, RefusedError, refusalsOf } from './refusals.js';

/** Who is played: drawn from the seed, one of the named by the seed, or one of them. */
export const PROFILES: readonly string[] = ['sampled', 'discrete', ...PROFILE_NAMES];

export const MAX_ID = 255;

export const RESET_SCHEMA = z
  .looseObject({
    seed: z
      .int()
      .min(0)
      .max(MAX_U32)
      .nullish()
      .describe('Of the episode; drawn, and told in the state, if left out.'),
    episode_id: z
      .string()
      .max(MAX_ID)
      .nullish()
      .describe('What the state calls the episode; made up if left out.'),
    profile: z
      .string()
      .nullish()
      .describe(`One of ${PROFILES.join(', ')}; "sampled" if left out.`),
    grader: z
      .union([z.string(), z.looseObject({ name: z.string(), weights: z.record(z.string(), z.number()) })])
      .nullish()
      .describe(`${GRADER_NAMES.join(' or ')}, or a grader's name and weights; "v2" if left out.`),
  })
  .describe('Other keys are ignored.');

/** An episode to begin. */
export interface Begin {
  readonly seed: number;
  readonly id: string;
  readonly profile: string;
  /** As the state calls it. */
  readonly graderName: string;
  /** f32 [6], one array for each grader by name. */
  readonly grader: Float32Array;
}

const NAMED = new Map(GRADER_NAMES.map((name) => [name, graderWeights(name)]));

/** @throws RefusedError. */
export function toBegin(data: unknown): Begin {
  const parsed = RESET_SCHEMA.safeParse(data);
  if (!parsed.success) throw new RefusedError(refusalsOf(parsed.error, data));
  const { seed, episode_id, profile, grader } = parsed.data;
  const asked = grader ?? 'v2';
  return {
    seed: seed ?? drawSeed(),
    id: episode_id ?? crypto.randomUUID(),
    profile: refusable('profile', profile, () => checkName('profile', profile ?? 'sampled', PROFILES)),
    graderName: typeof asked === 'string' ? asked : asked.name,
    grader: refusable('grader', grader, () => toGrader(asked)),
  };
}

/** f32 [6]. @throws InputError `unknown_name` or `bad_grader`. */
export function toGrader(grader: string | object): Float32Array {
  if (typeof grader !== 'string') return graderWeights(validateGrader(grader, 'grader') as Grader);
  return NAMED.get(checkName('grader', grader, GRADER_NAMES))!;
}

function refusable<T>(field: string, input: unknown, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof RhythmError)) throw error;
    const refusal: Refusal = { type: 'value_error', loc: [field], msg: error.message, input };
    throw new RefusedError([refusal]);
  }
}

const drawn = new Uint32Array(1);
const drawSeed = (): number => crypto.getRandomValues(drawn)[0];
