/** Draws random legal calls of an environment, and applies them. The probabilities are chosen by hand. */

import type { VecEnv } from '../../src/engine/node.js';
import { Episode } from '../../src/engine/reference/episode.js';
import type { StartStates } from '../../src/engine/validate/starts.js';
import type { ResetOptions, StepOptions } from '../../src/engine/vec-env/vec-env-options.js';
import { GRADER_NAMES, NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS, PROFILE_NAMES } from '../../src/world/fields.js';
import type { Random } from './random.js';

export interface StepCall {
  readonly kind: 'step';
  readonly actions: Uint8Array;
  /** f32 [numEnvs, 3], NaN for no belief. Absent: no environment has a belief. */
  readonly beliefs?: Float32Array;
  /** Absent: all environments step. */
  readonly mask?: Uint8Array;
}

export interface ResetCall {
  readonly kind: 'reset';
  readonly seed: Uint32Array;
  readonly mask?: Uint8Array;
  readonly profiles?: readonly string[];
  readonly graders?: readonly string[];
  /** Begins each episode at the state that these actions lead to. */
  readonly played?: PlayedStart;
}

/** The number of steps, u8 [numEnvs], and the actions, u8 [numEnvs, 28]. */
interface PlayedStart {
  readonly steps: Uint8Array;
  readonly sequence: Uint8Array;
}

export interface RunCall {
  readonly kind: 'run';
  /** u8 [numEnvs, 28]. */
  readonly sequence: Uint8Array;
  readonly stops: Uint8Array;
  readonly belief?: readonly number[];
}

export type Call = StepCall | ResetCall | RunCall;

/** Applies a call to an environment. */
export function applyCall(env: VecEnv, call: Call): ReturnType<VecEnv['step']> {
  if (call.kind === 'step') return env.step(call.actions, optionsOf(call));
  if (call.kind === 'run') return env.run(call.sequence, { stops: call.stops, beliefs: call.belief });
  return env.reset(resetOptionsOf(call));
}

/** Returns the options of a reset. `start` has the states that `played` leads to. */
export function resetOptionsOf(call: ResetCall): ResetOptions {
  const { kind: _, played, ...options } = call;
  return played === undefined ? options : { ...options, start: playToStarts(call, played) };
}

/** Plays an episode to the step at which environment i starts. */
export function playTo(episode: Episode, { steps, sequence }: PlayedStart, i: number): Episode {
  while (episode.stepCount < steps[i]) episode.step(sequence[i * NUM_STEPS + episode.stepCount]);
  return episode;
}

/** Plays each environment's episode to its start. Returns the states as the option `start`, in arrays of several types. */
function playToStarts({ seed, profiles }: ResetCall, played: PlayedStart): StartStates {
  const episodes = Array.from(seed, (s, i) =>
    playTo(new Episode().reset(s, { profile: profiles?.[i] ?? 'sampled' }), played, i),
  );
  return {
    steps: played.steps,
    meters: Float32Array.from(episodes.flatMap(({ meters }) => Array.from(meters))),
    early: episodes.map(({ early }) => early),
    late: Float32Array.from(episodes, ({ late }) => late),
    crashes: episodes.map(({ crashes }) => crashes),
    returns: Float64Array.from(episodes, (episode) => episode.return),
    well: episodes.map(({ well }) => well),
  };
}

function optionsOf({ beliefs, mask }: StepCall): StepOptions {
  return { ...(beliefs && { beliefs }), ...(mask && { mask }) };
}

/** The environments for which calls are drawn. */
export interface EnvShape {
  readonly numEnvs: number;
  readonly seedRange: readonly [low: number, size: number];
}

/** Draws a call. @param finished marks the environments that must not step; the mask leaves them out. */
export function randomCall(random: Random, shape: EnvShape, finished: ArrayLike<number>): Call {
  const draw = random.real();
  if (draw < 0.06) return randomReset(random, shape, true);
  return draw < 0.12 ? randomRun(random, shape.numEnvs) : randomStep(random, shape.numEnvs, finished);
}

/** Draws a reset. @param masked whether it has a mask. */
export function randomReset(random: Random, { numEnvs, seedRange }: EnvShape, masked = false): ResetCall {
  const [low, size] = seedRange;
  const last = random.chance(0.3) ? Math.max(0, size - 2 * numEnvs) : 0;
  const names = (choices: readonly string[]) => Array.from({ length: numEnvs }, () => random.pick(choices));
  return {
    kind: 'reset',
    // Often the last seeds of the range, after which the next seeds begin again at its first.
    seed: Uint32Array.from({ length: numEnvs }, () => low + random.integer(last, size - 1)),
    ...(masked && { mask: random.mask(numEnvs, 0.3) }),
    ...(random.chance(0.6) && { profiles: names(['sampled', 'discrete', ...PROFILE_NAMES]) }),
    ...(random.chance(0.6) && { graders: names(GRADER_NAMES) }),
    ...(random.chance(0.4) && { played: randomPlayedStart(random, numEnvs) }),
  };
}

const randomPlayedStart = (random: Random, numEnvs: number): PlayedStart => ({
  steps: random.bytes(numEnvs, 0, NUM_STEPS - 1),
  sequence: random.bytes(numEnvs * NUM_STEPS, 0, NUM_ACTIONS - 1),
});

/** Draws a step. Environments that the mask leaves out may get illegal actions and beliefs, which must be ignored. */
function randomStep(random: Random, numEnvs: number, finished: ArrayLike<number>): StepCall {
  const p = random.pick([0.5, 0.9, 1]);
  const mask = Uint8Array.from(finished, (over) => Number(over === 0 && random.chance(p)));
  const actions = Uint8Array.from(mask, (steps) => random.integer(0, steps ? NUM_ACTIONS - 1 : 255));
  const given = mask.map((steps) => Number(steps !== 0 && random.chance(0.7)));
  const beliefs = Float32Array.from({ length: numEnvs * NUM_BELIEFS }, (_, at) => {
    const i = Math.floor(at / NUM_BELIEFS);
    if (mask[i] === 0) return random.pick([Number.NaN, Number.POSITIVE_INFINITY, 0.5]);
    return given[i] ? random.real(-0.2, 1.2) : Number.NaN;
  });
  const all = mask.every((steps) => steps !== 0);
  return {
    kind: 'step',
    actions,
    ...(random.chance(0.7) && { beliefs }),
    ...(!(all && random.chance(0.5)) && { mask }),
  };
}

function randomRun(random: Random, numEnvs: number): RunCall {
  return {
    kind: 'run',
    sequence: random.bytes(numEnvs * NUM_STEPS, 0, NUM_ACTIONS - 1),
    stops: random.stops(numEnvs),
    ...(random.chance(0.5) && { belief: [random.real(), random.real(), random.real()] }),
  };
}
