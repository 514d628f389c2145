/** Random calls of an environment, legal ones and such as must be refused. */
import { Episode } from '../../src/reference/episode.js';
import type { StartStates } from '../../src/validate/starts.js';
import type { ResetOptions, StepOptions } from '../../src/vec-env/options.js';
import type { VecEnv } from '../../src/vec-env.js';
import { GRADER_NAMES, NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS, PROFILE_NAMES } from '../../src/world/fields.js';
import type { Random } from './random.js';

export interface StepCall {
  readonly kind: 'step';
  readonly actions: Uint8Array;
  /** f32 [numEnvs, 3], NaN where none is given; absent for no beliefs at all. */
  readonly beliefs?: Float32Array;
  /** Absent for all. */
  readonly mask?: Uint8Array;
}

export interface ResetCall {
  readonly kind: 'reset';
  readonly seed: Uint32Array;
  readonly mask?: Uint8Array;
  readonly profiles?: readonly string[];
  readonly graders?: readonly string[];
  /** Episodes that begin where others stand that were played so far. */
  readonly past?: Past;
}

/** How many steps were taken, u8 [numEnvs], and which, u8 [numEnvs, 28]. */
interface Past {
  readonly steps: Uint8Array;
  readonly tape: Uint8Array;
}

export interface RunCall {
  readonly kind: 'run';
  /** u8 [numEnvs, 28]. */
  readonly tape: Uint8Array;
  readonly stops: Uint8Array;
  readonly belief?: readonly number[];
}

export type Call = StepCall | ResetCall | RunCall;

/** What an environment and a model of one are told. */
export function make(env: VecEnv, call: Call): ReturnType<VecEnv['step']> {
  if (call.kind === 'step') return env.step(call.actions, optionsOf(call));
  if (call.kind === 'run') return env.run(call.tape, { stops: call.stops, beliefs: call.belief });
  return env.reset(resetOptionsOf(call));
}

export function resetOptionsOf(call: ResetCall): ResetOptions {
  const { kind: _, past, ...options } = call;
  return past === undefined ? options : { ...options, start: startOf(call, past) };
}

/** An episode that was played up to there. */
export function playedTo(episode: Episode, { steps, tape }: Past, i: number): Episode {
  while (episode.stepCount < steps[i]) episode.step(tape[i * NUM_STEPS + episode.stepCount]);
  return episode;
}

function startOf({ seed, profiles }: ResetCall, past: Past): StartStates {
  const episodes = Array.from(seed, (s, i) =>
    playedTo(new Episode().reset(s, { profile: profiles?.[i] ?? 'sampled' }), past, i),
  );
  return {
    steps: past.steps,
    meters: Float32Array.from(episodes.flatMap(({ meters }) => Array.from(meters))),
    early: episodes.map(({ early }) => early),
    late: Float32Array.from(episodes, ({ late }) => late),
    crashes: episodes.map(({ crashes }) => crashes),
    returns: Float64Array.from(episodes, (episode) => episode.return),
  };
}

function optionsOf({ beliefs, mask }: StepCall): StepOptions {
  return { ...(beliefs && { beliefs }), ...(mask && { mask }) };
}

/** What calls are drawn for. */
export interface Scene {
  readonly numEnvs: number;
  readonly seedRange: readonly [low: number, size: number];
}

/** @param stuck the slots that must not step; the mask leaves them out. */
export function anyCall(random: Random, scene: Scene, stuck: ArrayLike<number>): Call {
  const what = random.real();
  if (what < 0.06) return anyReset(random, scene, true);
  return what < 0.12 ? anyRun(random, scene.numEnvs) : anyStep(random, scene.numEnvs, stuck);
}

export function anyReset(random: Random, { numEnvs, seedRange }: Scene, masked = false): ResetCall {
  const [low, size] = seedRange;
  const names = (choices: readonly string[]) => Array.from({ length: numEnvs }, () => random.pick(choices));
  return {
    kind: 'reset',
    seed: Uint32Array.from({ length: numEnvs }, () => low + random.integer(0, size - 1)),
    ...(masked && { mask: random.mask(numEnvs, 0.3) }),
    ...(random.chance(0.6) && { profiles: names(['sampled', 'discrete', ...PROFILE_NAMES]) }),
    ...(random.chance(0.6) && { graders: names(GRADER_NAMES) }),
    ...(random.chance(0.4) && { past: anyPast(random, numEnvs) }),
  };
}

const anyPast = (random: Random, numEnvs: number): Past => ({
  steps: random.bytes(numEnvs, 0, NUM_STEPS - 1),
  tape: random.bytes(numEnvs * NUM_STEPS, 0, NUM_ACTIONS - 1),
});

/** Slots that do not step are given what none may do and believe. */
function anyStep(random: Random, numEnvs: number, stuck: ArrayLike<number>): StepCall {
  const p = random.pick([0.5, 0.9, 1]);
  const mask = Uint8Array.from(stuck, (not) => Number(not === 0 && random.chance(p)));
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

function anyRun(random: Random, numEnvs: number): RunCall {
  return {
    kind: 'run',
    tape: random.bytes(numEnvs * NUM_STEPS, 0, NUM_ACTIONS - 1),
    stops: random.stops(numEnvs),
    ...(random.chance(0.5) && { belief: [random.real(), random.real(), random.real()] }),
  };
}
