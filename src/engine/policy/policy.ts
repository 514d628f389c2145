/** Policies that choose actions from observations, and checks of what their players return. */

import { InputError, Place } from '../../shared/errors.js';
import { describe, readOptions, wrongType } from '../../shared/values.js';
import { NUM_BELIEFS } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import type { Grader } from '../graders/grader.js';
import { threefry } from '../reference/threefry.js';
import { type Actions, illegalAction, isAction, toActions, toBeliefs, toGiven } from '../validate/steps.js';
import type { EngineOptions } from '../vec-env/vec-env-options.js';

/** What a policy sees before a step of n environments. The arrays are valid until the policy returns. */
export interface PolicyView {
  /** f32 [n, 22], row-major, fields as in OBSERVATION_FIELDS. */
  readonly observations: Float32Array;
  /** u8 [n]: the steps that each episode has taken, 0 to 28. */
  readonly steps: Uint8Array;
  /** u8 [n]: 1 while the episode runs, 0 after its end. */
  readonly playing: Uint8Array;
}

/** What a policy returns. Entries of episodes that are over are ignored. */
export interface PolicyActions {
  /** `[n]`: action codes, 0 to 9. */
  readonly actions: Actions;
  /** [n, 3], row-major: social, morning and work, in [0, 1]. A row of three NaN is no belief. Default: no beliefs. */
  readonly beliefs?: ArrayLike<number> | null;
  /** `[n]`: the log-probability of each action; NaN if unknown. Only `rolloutGroups` reads it. Default: all unknown. */
  readonly logProbs?: ArrayLike<number> | null;
}

/** A policy without memory: a function that is called before every step, for all environments at once. */
export type PolicyFunction<View extends PolicyView = PolicyView> = (
  view: View,
) => PolicyActions | Promise<PolicyActions>;

/** Episodes that begin. */
export interface EpisodeStarts {
  /** u8 [n]: 1 in environments whose episode begins. */
  readonly mask: Uint8Array;
  /**
   * u32 [n]: a seed for the random draws of the policy, so that its results can be reproduced. It is derived from the
   * seed of the episode; in `rolloutGroups` from the member's index in its group. A policy with `usesHiddenState` gets the
   * seed of the episode, or the index, unchanged. Other policies do not, because the seed of an episode determines its
   * profile, noise and events.
   */
  readonly seeds: Uint32Array;
  /**
   * Returns the hidden profiles, f32 [n, 16], newly allocated. @throws InputError `unknown_option` in `rolloutGroups`, and
   * unless the policy sets `usesHiddenState`.
   */
  profiles(): Float32Array;
}

/**
 * The environments that a policy is opened for. `backend` is the backend of the episodes: a name, or undefined for 'auto'.
 * A policy that itself opens environments on this backend needs `createAsyncVecEnv` for 'webgpu'.
 */
export interface PolicySetting extends EngineOptions {
  /** The number of environments. */
  readonly numEnvs: number;
  /** The grader of all episodes; null in `rolloutGroups` with one grader per group, or with `from`. */
  readonly grader: Grader | null;
  /** The world of the episodes. */
  readonly world: World;
}

/** A policy opened for a number of environments. It keeps a state for each of them, if it needs one. */
export interface PolicyPlayer {
  /**
   * Clears the state of environments whose episode begins. Called before the first step of each episode. A player without
   * `reset` plays one batch of episodes: the policy is opened again for the next one.
   */
  reset?(episodes: EpisodeStarts): void | Promise<void>;
  /** Chooses the next action of every environment. */
  act: PolicyFunction;
  /** Returns the reasons for the last action in environment i, or a promise of them. Trajectories store them. */
  reasons?(i: number): string | Promise<string>;
  /** Frees the player's resources. */
  [Symbol.dispose]?(): void;
}

/** A policy with memory. Pass it to `evaluate` under a name, or to `rolloutGroups`. */
export interface Policy {
  /** Opens the policy for a number of environments. The player acts in all of them with one call per step. */
  open(setting: PolicySetting): PolicyPlayer | Promise<PolicyPlayer>;
  /** Whether the policy uses the hidden state. Then it is not a valid agent, and results mark it as an oracle. */
  readonly usesHiddenState?: boolean;
}

/** A policy with or without memory. */
export type PolicyLike = Policy | PolicyFunction;

/** Returns whether a value is a policy: a function, or an object with the function `open`. */
export const isPolicy = (value: unknown): value is PolicyLike =>
  typeof value === 'function' || typeof (value as Policy | null)?.open === 'function';

/** Returns a policy as an object with `open`. Wraps a function. */
export const toPolicy = (policy: PolicyLike): Policy =>
  typeof policy === 'function' ? { open: () => ({ act: policy, reset: () => {} }) } : policy;

/** The output of a policy for a step. Actions and beliefs are checked copies. */
export interface CheckedActions {
  /** u8 [n]: codes. Entries of episodes that are over have no meaning. */
  readonly actions: Uint8Array;
  /** f32 [n, 3]; null without beliefs. */
  readonly beliefs: Float32Array | null;
  /** As the policy returned them, unchecked; null if it returned none. */
  readonly logProbs: ArrayLike<number> | null;
}

/**
 * The second word of Threefry's key, for the seeds that policies get: "POLY" in ASCII. No stream of the published world has
 * this number.
 */
const OWN_DRAWS = 0x504f4c59;

const OUTPUTS: readonly (keyof PolicyActions)[] = ['actions', 'beliefs', 'logProbs'];

/** A player of a user's policy. Its errors name the policy. */
export interface CheckedPlayer extends PolicyPlayer, Disposable {
  act(view: PolicyView): Promise<CheckedActions>;
  [Symbol.dispose](): void;
}

/**
 * Opens a policy. @param signal aborting it rejects pending calls with its reason.
 * @throws InputError `policy_failed` if the policy throws, `wrong_type` if it opens no player.
 */
export async function openChecked(
  name: string,
  policyLike: PolicyLike,
  setting: PolicySetting,
  signal?: AbortSignal,
): Promise<CheckedPlayer> {
  const policy = toPolicy(policyLike);
  const player = await call(name, 'to open', signal, () => policy.open(setting));
  if (typeof player?.act !== 'function') {
    const text = `Expected open() of the policy "${name}" to return a player, { act(view) }, got ${describe(player)}.`;
    throw new InputError('wrong_type', `${text} Return an object with the function act.`);
  }
  const usesHiddenState = policy.usesHiddenState === true;
  const reset = async (episodes: EpisodeStarts): Promise<void> => {
    const given = usesHiddenState ? episodes : withoutHiddenState(name, episodes);
    await call(name, 'to begin episodes', signal, () => player.reset!(given));
  };
  return {
    reset: typeof player.reset === 'function' ? reset : undefined,
    act: (view) => checkedAct(name, player, view, signal),
    reasons: typeof player.reasons === 'function' ? (i) => checkedReasons(name, player, i) : undefined,
    [Symbol.dispose]: () => player[Symbol.dispose]?.(),
  };
}

/** Hides profiles, and replaces seeds: with an episode's seed, a policy could play the same episode in advance. */
const withoutHiddenState = (name: string, { mask, seeds }: EpisodeStarts): EpisodeStarts => ({
  mask,
  seeds: seeds.map(ownSeed),
  profiles() {
    throw new InputError(
      'unknown_option',
      `Expected the policy "${name}" not to read profiles, which are hidden from agents. ` +
        'Set usesHiddenState: true; results then mark it as an oracle.',
    );
  },
});

/** Asks a policy for its actions, and checks them. */
async function checkedAct(
  name: string,
  player: PolicyPlayer,
  view: PolicyView,
  signal: AbortSignal | undefined,
): Promise<CheckedActions> {
  // For errors: the step of the first environment that plays.
  const step = view.steps[Math.max(0, view.playing.indexOf(1))];
  const { observations } = view;
  // The buffer of a view may hold hidden state: on `wasm` it is the memory of the batch, with seeds and profiles.
  const isWhole = observations.byteLength === observations.buffer.byteLength;
  const given = { ...view, observations: isWhole ? observations : observations.slice() };
  const output = await call(name, `to choose actions at step ${step}`, signal, () => player.act(given));
  try {
    return check(output, view);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const environment = faultyEnvironment(output, view.playing);
    const where = environment < 0 ? '' : ` for environment ${environment}`;
    const text = `${error.message} The policy "${name}" returned it at step ${step}${where}.`;
    throw new InputError(error.code, text, { cause: error, at: error });
  }
}

/** Checks a policy's output. @returns copies of actions and beliefs. */
function check(output: PolicyActions, { playing }: PolicyView): CheckedActions {
  const { actions, beliefs, logProbs } = readOptions("a policy's output", output, OUTPUTS);
  const n = playing.length;
  const codes = toActions(actions, n, 'environments', new Uint8Array(n), playing);
  for (let i = 0; i < n; i++) {
    if (playing[i] === 1 && !isAction(codes[i])) throw illegalAction(new Place('actions', i), actions[i]);
  }
  return {
    actions: codes === actions ? codes.slice() : codes,
    beliefs: beliefs == null ? null : toCheckedBeliefs(beliefs, n, playing),
    logProbs: logProbs ?? null,
  };
}

async function checkedReasons(name: string, player: PolicyPlayer, i: number): Promise<string> {
  const text: unknown = await player.reasons!(i);
  if (typeof text === 'string') return text;
  throw wrongType(`reasons(${i}) of the policy "${name}"`, 'a text', text, 'Return a string.');
}

/** Returns a seed for a policy's own draws. */
const ownSeed = (seed: number): number => threefry(seed, OWN_DRAWS, 0, 0, { x0: 0, x1: 0 }).x0;

/** Returns the index of the first environment whose action or belief is invalid; -1 if none is, or if a length is wrong. */
function faultyEnvironment(output: PolicyActions | null, playing: Uint8Array): number {
  const { actions, beliefs } = output ?? {};
  if (
    actions?.length !== playing.length ||
    (beliefs?.length ?? NUM_BELIEFS * playing.length) !== NUM_BELIEFS * playing.length
  )
    return -1;
  return playing.findIndex((plays, i) => {
    if (plays === 0) return false;
    const belief = [0, 1, 2].map((k) => beliefs?.[i * NUM_BELIEFS + k]);
    // Three NaN state no belief.
    const isBelief = belief.every(Number.isFinite) || belief.every(Number.isNaN);
    return !isAction(actions[i]) || (beliefs != null && !isBelief);
  });
}

/** Checks beliefs, and returns them as a copy, f32 [n, 3]. Entries of episodes that are over have no meaning. */
function toCheckedBeliefs(beliefs: ArrayLike<number>, n: number, playing: Uint8Array): Float32Array {
  const copy = new Float32Array(n * NUM_BELIEFS);
  const floats = toBeliefs(beliefs, n, 'environments', copy, playing);
  if (floats !== copy) copy.set(floats);
  // Throws for a row that is neither a belief nor three NaN.
  toGiven(copy, n, new Uint8Array(n), playing);
  return copy;
}

/** Calls a policy. @param purpose for errors: "to open". @throws InputError `policy_failed`; the signal's reason. */
async function call<T>(
  name: string,
  purpose: string,
  signal: AbortSignal | undefined,
  run: () => T | Promise<T>,
): Promise<T> {
  try {
    return await unlessAborted(run(), signal);
  } catch (cause) {
    signal?.throwIfAborted();
    const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : describe(cause);
    throw new InputError(
      'policy_failed',
      {
        expected: `the policy "${name}" ${purpose}`,
        got: `an error: ${text}`,
        remedy: 'Correct the policy; error.cause is its error.',
      },
      { cause },
    );
  }
}

/**
 * Returns the value, or rejects with the signal's reason if the signal aborts before a promise settles. A value that is no
 * promise is always returned.
 */
async function unlessAborted<T>(value: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return value;
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([value, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
