/** An action as OpenEnv's clients send it. */
import { z } from 'zod';
import { didYouMean } from '../../suggest.js';
import { ACTION_NAMES, BELIEF_NAMES, NUM_BELIEFS } from '../../world/fields.js';
import { explained, type Refusal, RefusedError, refusalsOf } from './refusals.js';

/** What a session is asked to do. */
export interface Action {
  /** Code, 0 to 9. */
  readonly code: number;
  /** In [0, 1] each, by BELIEF_NAMES; null where none is given. */
  readonly belief: readonly number[] | null;
}

export const ACTION_SCHEMA = z.strictObject({
  action_type: z.string().describe(`One of ${ACTION_NAMES.join(', ')}, in either case.`),
  belief: z
    .array(z.number())
    .length(NUM_BELIEFS)
    .nullish()
    .describe(
      `${BELIEF_NAMES.join(', ')}: what is believed of the person, 0 to 1 each; numbers beyond are clamped. None: the last one stands.`,
    ),
  metadata: z.record(z.string(), z.unknown()).optional().describe('Ignored.'),
});

/** In either case, and with - for _, as completions spell them. */
const CODES: ReadonlyMap<string, number> = new Map(ACTION_NAMES.map((name, code) => [name, code]));
const codeOf = (name: string): number | undefined =>
  CODES.get(name) ?? CODES.get(name.toLowerCase().replaceAll('-', '_'));

/** @throws RefusedError with the faults, each explained. */
export function toAction(data: unknown): Action {
  const parsed = ACTION_SCHEMA.safeParse(data);
  if (!parsed.success) throw new RefusedError(explained(refusalsOf(parsed.error, data)));
  const { action_type, belief } = parsed.data;
  const code = codeOf(action_type);
  if (code === undefined) throw new RefusedError(explained([noAction(action_type)]));
  return { code, belief: belief?.map(clamp) ?? null };
}

/** Before it is a float32: what a float32 cannot hold would be infinite. */
const clamp = (value: number): number => Math.min(Math.max(value, 0), 1);

function noAction(name: string): Refusal {
  const names = ACTION_NAMES.map((each) => `'${each}'`);
  const msg = `Input should be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`;
  return {
    type: 'literal_error',
    loc: ['action_type'],
    msg: `${msg}${didYouMean(name.slice(0, 100), ACTION_NAMES)}`,
    input: name,
  };
}
