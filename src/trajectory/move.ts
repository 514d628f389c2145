/** What a player does in a step, and what is played for it. */
import { parseCompletion } from '../text/parse.js';
import type { Prompt } from '../text/prompt.js';
import { illegalAction, isAction } from '../validate/actions.js';
import { checkFinite, checkLength } from '../validate/values.js';
import { ACTION_NAMES, MIN_MAGNITUDE, NUM_BELIEFS } from '../world/fields.js';
import { FALLBACK_ACTION, type Usage } from './episode.js';

/** An answer in words. Action and belief are what it says, nothing else. */
export interface TextMove {
  readonly prompt: Prompt;
  readonly completion: string;
  /** What was thought, if it is told apart from a completion that holds no thought. */
  readonly reasoning?: string;
  /** What this answer took; an episode's is the sum. */
  readonly usage?: Usage;
}

/** An action without words. */
export interface DirectMove {
  /** Code, 0 to 9. */
  readonly action: number;
  /** [3], clamped to [0, 1]; null for none. */
  readonly belief: ArrayLike<number> | null;
  readonly reasoning?: string;
}

export type Move = TextMove | DirectMove;

/** What is played for a move, and what is kept of it. */
export interface Played {
  /** Code, 0 to 9. */
  readonly action: number;
  /** Whether the move has an action; else FALLBACK_ACTION is played. */
  readonly parsed: boolean;
  /** f32 [3] in [0, 1]; null for none. */
  readonly belief: Float32Array | null;
  readonly system: string | null;
  readonly prompt: string | null;
  readonly completion: string | null;
  readonly reasoning: string | null;
  readonly usage: Usage | null;
}

const FALLBACK = ACTION_NAMES.indexOf(FALLBACK_ACTION);

/**
 * What is played: of a completion what `parseCompletion` reads. Where it names no action that is FALLBACK_ACTION, and
 * a belief that it gives is given all the same.
 * @throws InputError `illegal_action`, `wrong_type`, `wrong_length` or `out_of_range`.
 */
export const playedFor = (move: Move): Played => ('completion' in move ? answered(move) : chosen(move));

function answered({ prompt, completion, reasoning, usage }: TextMove): Played {
  const { action, belief, given } = parseCompletion(completion);
  const [system, user] = prompt;
  return {
    action: action ?? FALLBACK,
    parsed: action !== null,
    belief: given ? Float32Array.from(belief) : null,
    system: system.content,
    prompt: user.content,
    completion,
    reasoning: reasoningIn(completion) ?? reasoning ?? null,
    usage: usage ?? null,
  };
}

function chosen({ action, belief, reasoning }: DirectMove): Played {
  if (!isAction(action)) throw illegalAction('action', action, { remedy: 'Pass one.' });
  const words = { system: null, prompt: null, completion: null, usage: null };
  return { action, parsed: true, belief: belief && toBelief(belief), ...words, reasoning: reasoning ?? null };
}

/** As the world takes it (world page, One step, 9). */
function toBelief(belief: ArrayLike<number>): Float32Array {
  checkLength('numbers in belief', belief.length, NUM_BELIEFS, 'social, morning, work');
  return Float32Array.from(belief, (value, k) => {
    const clamped = Math.min(Math.max(checkFinite(`belief[${k}]`, value), 0), 1);
    return clamped < MIN_MAGNITUDE ? 0 : clamped;
  });
}

// Without the flag u no letter but ASCII's passes for one of a tag's.
const OPENING = /<reasoning>/i;
const CLOSING = /<\/reasoning>/gi;

/** What stands between a completion's first opening tag and its last closing one; null where there is no such thought. */
export function reasoningIn(completion: string): string | null {
  const opened = OPENING.exec(completion);
  if (opened === null) return null;
  let closed = -1;
  for (const { index } of completion.matchAll(CLOSING)) closed = index;
  if (closed < opened.index) return null;
  return completion.slice(opened.index + opened[0].length, closed).trim();
}
