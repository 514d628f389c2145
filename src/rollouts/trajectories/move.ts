/** Converts a player's move (a completion, or an action and a belief) to the action and belief of a step. */
import { clampBelief } from '../../engine/reference/profile.js';
import { illegalAction, isAction } from '../../engine/validate/steps.js';
import { checkFinite, checkLength } from '../../shared/values.js';
import { ACTION_NAMES, MIN_MAGNITUDE, NUM_BELIEFS } from '../../world/fields.js';
import { parseCompletion } from '../text/parse-completions.js';
import type { Prompt } from '../text/prompt.js';
import type { TrajectoryStep, Usage } from './trajectory-episode.js';

/**
 * The action played for a completion without an action. It is constant, so that the model earns no reward by a choice
 * that it did not make.
 */
export const FALLBACK_ACTION = 'sleep';

/** A lone surrogate, which UTF-8 cannot encode. */
export const LONE_SURROGATE = /\p{Cs}/u;

/** Returns whether an answer can become training data: it has a prompt, an action and a belief, and no lone surrogate. */
export const isUsableAnswer = ({ prompt, completion, parsed, belief }: TrajectoryStep): boolean =>
  prompt !== null && completion !== null && parsed && belief !== null && !LONE_SURROGATE.test(completion);

/** A completion. Its action and belief are parsed from its text. */
export interface TextMove {
  readonly prompt: Prompt;
  readonly completion: string;
  /** The model's reasoning, if the service returned it separately from the completion. */
  readonly reasoning?: string;
  /** The usage of this completion. An episode's usage is the sum over its steps. */
  readonly usage?: Usage;
}

/** An action and a belief without a completion. */
interface DirectMove {
  /** Code, 0 to 9. */
  readonly action: number;
  /** Three finite numbers, which `resolveMove` clamps to [0, 1]; null for no belief. */
  readonly belief: ArrayLike<number> | null;
  readonly reasoning?: string;
}

/** What a player does in a step. */
export type Move = TextMove | DirectMove;

/** The action and belief of a step, and the texts that are stored with it. */
export interface PlayedMove {
  /** Code, 0 to 9. */
  readonly action: number;
  /** Whether the move has an action. If false, FALLBACK_ACTION is played. */
  readonly parsed: boolean;
  /** f32 [3] in [0, 1]; null for no belief. */
  readonly belief: Float32Array | null;
  readonly system: string | null;
  readonly prompt: string | null;
  readonly completion: string | null;
  readonly reasoning: string | null;
  readonly usage: Usage | null;
}

const FALLBACK = ACTION_NAMES.indexOf(FALLBACK_ACTION);

/**
 * Returns the action and belief of a move. A completion is parsed by `parseCompletion`. If it has no action,
 * FALLBACK_ACTION is played; a belief in the completion still counts.
 * @throws InputError `illegal_action`, `wrong_type`, `wrong_length` or `out_of_range`.
 */
export const resolveMove = (move: Move): PlayedMove =>
  'completion' in move ? resolveText(move) : resolveAction(move);

function resolveText({ prompt, completion, reasoning, usage }: TextMove): PlayedMove {
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

function resolveAction({ action, belief, reasoning }: DirectMove): PlayedMove {
  if (!isAction(action)) throw illegalAction('action', action, { remedy: 'Pass a code in that range.' });
  const noTexts = { system: null, prompt: null, completion: null, usage: null };
  return {
    action,
    parsed: true,
    belief: belief && toBelief(belief),
    ...noTexts,
    reasoning: reasoning ?? null,
  };
}

function toBelief(belief: ArrayLike<number>): Float32Array {
  checkLength('numbers in belief', belief.length, NUM_BELIEFS, 'social, morning, work');
  return Float32Array.from(belief, (value, k) =>
    clampBelief(checkFinite(`belief[${k}]`, value), MIN_MAGNITUDE),
  );
}

// Without the flag u, these letters match ASCII letters only.
const OPENING = /<reasoning>/i;
const CLOSING = /<\/reasoning>/gi;

/**
 * Returns the text between the first `<reasoning>` and the last `</reasoning>` of a completion, trimmed; null without the tags.
 */
export function reasoningIn(completion: string): string | null {
  const opened = OPENING.exec(completion);
  if (opened === null) return null;
  let closed = -1;
  for (const { index } of completion.matchAll(CLOSING)) closed = index;
  if (closed < opened.index) return null;
  return completion.slice(opened.index + opened[0].length, closed).trim();
}
