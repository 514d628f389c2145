/** Draws the call sequences for a page and computes the expected results with the reference, in Node. */
import { toAsyncBackend } from '../../../src/engine/backends/async-adapter.js';
import { referenceBackend } from '../../../src/engine/backends/reference.js';
import {
  ACTION_NAMES,
  MODE,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_STEPS,
  PROFILE_NAMES,
  PROFILE_SIZE,
} from '../../../src/world/fields.js';
import { resolveGrader } from '../../../src/world/resolve-names.js';
import { episodes, type GoldenEpisode } from '../golden.js';
import { WORLD } from '../open-batch.js';
import { Random } from '../random.js';
import {
  type BatchCall,
  type BatchSetup,
  type CallColumns,
  type CallSequence,
  type PlainRunRequest,
  SequencePlayer,
} from './call-sequence.js';

/** A call sequence, and the columns of the reference after each call. */
export interface ExpectedSequence {
  readonly sequence: CallSequence;
  readonly expected: readonly CallColumns[];
}

/** Records a sequence while the reference executes it, so that a call can depend on which episodes have ended. */
class SequenceRecorder {
  readonly #player: SequencePlayer;
  readonly #setup: BatchSetup;
  readonly #calls: BatchCall[] = [];
  readonly #expected: CallColumns[] = [];

  private constructor(player: SequencePlayer, setup: BatchSetup) {
    this.#player = player;
    this.#setup = setup;
  }

  static async of(setup: BatchSetup): Promise<SequenceRecorder> {
    return new SequenceRecorder(await SequencePlayer.open(toAsyncBackend(referenceBackend), setup), setup);
  }

  /** u8 [numEnvs]: which episodes have ended. */
  get terminated(): Uint8Array {
    return this.#player.outputs.terminated;
  }

  get numEnvs(): number {
    return this.terminated.length;
  }

  async apply(call: BatchCall): Promise<void> {
    this.#calls.push(call);
    this.#expected.push(await this.#player.apply(call));
  }

  saved(): Promise<Uint32Array> {
    return this.#player.batch.save();
  }

  finish(): ExpectedSequence {
    this.#player.close();
    return { sequence: { setup: this.#setup, calls: this.#calls }, expected: this.#expected };
  }
}

/** Draws resets, steps, runs, copies and loads of states. Masks let the episodes reach different steps. */
export async function mixedCallSequence(setup: BatchSetup): Promise<ExpectedSequence> {
  const random = new Random(setup.name);
  const recorder = await SequenceRecorder.of(setup);
  const steps = async (count: number, autoreset?: boolean): Promise<void> => {
    for (let k = 0; k < count; k++)
      await recorder.apply({ kind: 'step', request: random.step(recorder.terminated, autoreset) });
  };
  await recorder.apply({ kind: 'reset', request: random.reset(recorder.numEnvs) });
  await steps(6);
  await recorder.apply({ kind: 'run', request: randomRun(random, recorder.numEnvs, true) });
  await steps(4);
  const mask = random.mask(recorder.numEnvs, 0.4);
  await recorder.apply({ kind: 'reset', request: { ...random.reset(recorder.numEnvs), mask } });
  await recorder.apply({
    kind: 'gather',
    indices: randomIndices(random, recorder.numEnvs, recorder.numEnvs),
  });
  await steps(4);
  await recorder.apply({ kind: 'save', indices: randomIndices(random, recorder.numEnvs, 7) });
  await recorder.apply({ kind: 'load', words: await recorder.saved() });
  await steps(4);
  const numForks = 2 * recorder.numEnvs + 5;
  const indices = randomIndices(random, recorder.numEnvs, numForks);
  const runToStops = { ...randomRun(random, numForks, false), stops: random.stops(numForks) };
  await recorder.apply({ kind: 'fork', indices, request: runToStops });
  const stops = new Uint8Array(numForks).fill(NUM_STEPS - 1);
  await recorder.apply({ kind: 'run', request: { ...randomRun(random, numForks, true), stops } });
  // Episodes that end and are reset in the same step.
  await steps(4, true);
  await recorder.apply({ kind: 'run', request: { ...randomRun(random, numForks, true), stops: null } });
  return recorder.finish();
}

const randomIndices = (random: Random, from: number, length: number): Uint32Array =>
  Uint32Array.from({ length }, () => random.integer(0, from - 1));

/** Draws a run. @param records whether the run records a trajectory. */
function randomRun(random: Random, numEnvs: number, records: boolean): PlainRunRequest {
  const { trajectory: _, from: __, ...request } = random.run(numEnvs);
  return { ...request, records };
}

/** Plays the golden episodes, one per environment: step by step, then in one run with its trajectory. */
export async function goldenCallSequence(imagination: boolean): Promise<ExpectedSequence> {
  const selected = episodes.filter((episode) => episode.imagination === imagination);
  const layout = { columnMajor: false, finalObservations: false };
  const name = `the golden episodes${imagination ? ' of imagination' : ''}`;
  const recorder = await SequenceRecorder.of({ name, numEnvs: selected.length, imagination, layout });
  const none = { stepMask: null, resetMask: null, resetSeeds: null };
  const actions = Uint8Array.from(selected.flatMap(actionCodes));
  const { beliefs, given } = beliefsOf(selected);
  // Returns the rows of step t.
  const at = <Rows extends Uint8Array | Float32Array>(rows: Rows, width: number, t: number): Rows =>
    rows.filter((_, k) => Math.floor(k / width) % NUM_STEPS === t) as Rows;

  await recorder.apply({ kind: 'reset', request: resetOf(selected) });
  for (let t = 0; t < NUM_STEPS; t++) {
    const belief = { beliefs: at(beliefs, NUM_BELIEFS, t), given: at(given, 1, t) };
    await recorder.apply({ kind: 'step', request: { actions: at(actions, 1, t), ...belief, ...none } });
  }
  await recorder.apply({ kind: 'reset', request: resetOf(selected) });
  const policy = { kind: 'sequence', actions } as const;
  const sequence = { kind: 'sequence', beliefs, given } as const;
  await recorder.apply({ kind: 'run', request: { policy, beliefs: sequence, stops: null, records: true } });
  return recorder.finish();
}

/** Returns the action codes of a golden episode. */
const actionCodes = ({ steps }: GoldenEpisode): number[] =>
  steps.map(({ action }) => ACTION_NAMES.indexOf(action));

/** Returns the beliefs, f32 [episodes, 28, 3], and which are given, u8 [episodes, 28]. */
function beliefsOf(selected: readonly GoldenEpisode[]) {
  const rows = selected.flatMap(({ steps }) => steps.map(({ belief }) => belief));
  return {
    beliefs: Float32Array.from(rows.flatMap((belief) => belief ?? [Number.NaN, Number.NaN, Number.NaN])),
    given: Uint8Array.from(rows, (belief) => Number(belief !== null)),
  };
}

function resetOf(selected: readonly GoldenEpisode[]) {
  const profiles = new Float32Array(selected.length * PROFILE_SIZE);
  const graders = new Float32Array(selected.length * NUM_COMPONENTS);
  for (const [i, { traits, weights, grader }] of selected.entries()) {
    profiles.set([...Object.values(traits), ...Object.values(weights)], i * PROFILE_SIZE);
    graders.set(resolveGrader(WORLD, grader), i * NUM_COMPONENTS);
  }
  return {
    mask: null,
    seeds: Uint32Array.from(selected, ({ seed }) => seed),
    modes: Uint8Array.from(selected, modeOf),
    profiles,
    graders,
  };
}

/** Returns the profile mode of a golden episode. A named profile is passed as numbers. */
function modeOf({ profile }: GoldenEpisode): number {
  if (profile === 'explicit' || PROFILE_NAMES.includes(profile as never)) return MODE.given;
  return MODE[profile as 'sampled'];
}
