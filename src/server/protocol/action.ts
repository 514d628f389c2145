/** Parses an action in OpenEnv's JSON form. */
import { z } from 'zod';
import { clampBelief } from '../../engine/reference/grade.js';
import { didYouMean } from '../../shared/names.js';
import { ACTION_NAMES, BELIEF_NAMES, MIN_MAGNITUDE, NUM_BELIEFS } from '../../world/fields.js';
import { InvalidRequestError, type ValidationError, validationErrorsOf, withLinks } from './errors.js';

/** A validated action. */
export interface Action {
  /** Code, 0 to 9. */
  readonly code: number;
  /** In the order of BELIEF_NAMES, each in [0, 1]; null for no belief. */
  readonly belief: readonly number[] | null;
}

export const ACTION_SCHEMA = z.strictObject({
  action_type: z.string().describe(`One of ${ACTION_NAMES.join(', ')}, in lower or upper case.`),
  belief: z
    .array(z.number())
    .length(NUM_BELIEFS)
    .nullish()
    .describe(
      `${BELIEF_NAMES.join(', ')}: the belief about the profile, 0 to 1 each; other numbers are clamped. Without one, the last belief still counts.`,
    ),
  metadata: z.record(z.string(), z.unknown()).optional().describe('Ignored.'),
});

/** Action codes by name. */
const CODES: ReadonlyMap<string, number> = new Map(ACTION_NAMES.map((name, code) => [name, code]));
/** Returns the code of a name, in lower or upper case, with - or _. */
const codeOf = (name: string): number | undefined =>
  CODES.get(name) ?? CODES.get(name.toLowerCase().replaceAll('-', '_'));

/** Parses an action. @throws InvalidRequestError. */
export function toAction(data: unknown): Action {
  const parsed = ACTION_SCHEMA.safeParse(data);
  if (!parsed.success) throw new InvalidRequestError(withLinks(validationErrorsOf(parsed.error, data)));
  const { action_type, belief } = parsed.data;
  const code = codeOf(action_type);
  if (code === undefined) throw new InvalidRequestError(withLinks([unknownAction(action_type)]));
  return { code, belief: belief?.map((value) => clampBelief(value, MIN_MAGNITUDE)) ?? null };
}

function unknownAction(name: string): ValidationError {
  const names = ACTION_NAMES.map((each) => `'${each}'`);
  const msg = `Input should be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`;
  return {
    type: 'literal_error',
    loc: ['action_type'],
    // Compares only the first 100 characters of the name, because an edit distance takes time.
    msg: `${msg}${didYouMean(name.slice(0, 100), ACTION_NAMES)}`,
    input: name,
  };
}
