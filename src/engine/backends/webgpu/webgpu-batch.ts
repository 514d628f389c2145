/// <reference types="@webgpu/types" />
/** A batch on a device. It turns backend requests into launches of kernels. */

import {
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
  PROFILE_SIZE,
  STATE_WORDS,
} from '../../../world/fields.js';
import type { EnvStarts } from '../../validate/starts.js';
import type {
  Batch,
  BatchOptions,
  OutputName,
  Outputs,
  Refusal,
  ReplayRequest,
  ResetRequest,
  RunBeliefs,
  RunRequest,
  StepRequest,
} from '../backend.js';
import { type Device, toDeviceOptions } from '../device-options.js';
import { StepClock } from '../refusals.js';
import { RunReplay } from '../run-replay.js';
import { BELIEFS, POLICY, RECORDED_BYTES } from './buffer-layout.js';
import { Launcher } from './launcher.js';
import type { Program } from './program.js';
import { piecesOf, putTrajectory } from './segment.js';
import type { RequestArrays } from './transfers.js';

/** A batch whose states and outputs are in the device's memory. */
export class WebGpuBatch implements Batch {
  readonly backend = 'webgpu';
  readonly kernel = 'webgpu';
  readonly threads = 1;
  readonly device: Device;
  readonly #numEnvs: number;
  readonly #outputs: Outputs;
  readonly #launcher: Launcher;
  readonly #clock: StepClock;
  readonly #submissionSize: SubmissionSize;
  readonly #replay: RunReplay;

  /**
   * @param exact whether the device passed the check of exactness-proof.ts.
   * @param maxEnvsPerSegment the largest number of environments per segment (segment.ts), for tests; null for as many as the
   *   device can bind.
   */
  constructor(
    program: Program,
    options: BatchOptions,
    exact: boolean,
    maxEnvsPerSegment: number | null = null,
  ) {
    const { numEnvs, outputs, world, imagination, device = toDeviceOptions() } = options;
    this.device = { adapter: program.gpu.adapterName, software: program.gpu.software, exact };
    this.#numEnvs = numEnvs;
    this.#outputs = outputs;
    this.#launcher = new Launcher(program, {
      ...{ numEnvs, words: world.words, maxEnvsPerSegment },
      keepsFinal: outputs.finalObservations !== null,
      inColumns: outputs.columnStride !== 0,
      imagination: imagination ? world.params.streamImagination : 0,
    });
    this.#clock = new StepClock(numEnvs);
    this.#submissionSize = new SubmissionSize(device.maxDispatchMs);
    this.#replay = new RunReplay(world, (rows, rowOutputs) =>
      new WebGpuBatch(program, { ...options, numEnvs: rows, outputs: rowOutputs }, exact).opened(),
    );
  }

  /** Resolves when the device has allocated the batch's memory. @throws BackendError `out_of_memory`, `device_lost`. */
  async opened(): Promise<this> {
    try {
      await this.#launcher.finished();
      return this;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  reset(request: ResetRequest): void {
    const { mask, seeds, modes, profiles, graders, start } = request;
    this.#launcher.launch('reset', {
      mask: [mask, 1],
      seeds: [seeds, 1],
      modes: [modes, 1],
      profiles: [profiles, PROFILE_SIZE],
      graders: [graders, NUM_COMPONENTS],
      ...(start === undefined ? {} : arraysOfStart(start)),
    });
    this.#clock.commitReset(request);
  }

  submit(request: StepRequest): Refusal | null {
    const { actions, beliefs, given, stepMask, resetMask, resetSeeds } = request;
    const refusal = this.#clock.findStepRefusal(request);
    if (refusal !== null) return refusal;
    this.#launcher.launch('step', {
      actions: [actions, 1],
      beliefs: [beliefs, NUM_BELIEFS],
      given: [given, 1],
      mask: [stepMask, 1],
    });
    if (resetMask !== null) {
      this.#launcher.launch('resetAfterStep', {
        mask: [stepMask, 1],
        reset_mask: [resetMask, 1],
        seeds: [resetSeeds, 1],
      });
    }
    this.#clock.commitStep(request);
    return null;
  }

  async run(request: RunRequest): Promise<Refusal | null> {
    const { first, end } = request.slice ?? { first: 0, end: this.#numEnvs };
    const { from, stops } = request;
    // The slice from environment 0 checks the action sequences of all environments.
    if (first === 0) {
      const origin = from && { clock: (from.source as WebGpuBatch).#clock, indices: from.indices };
      const refusal = this.#clock.findSequenceRefusal(request, origin ?? null);
      if (refusal !== null) return refusal;
    }
    if (from !== undefined) this.#gather(from.source as WebGpuBatch, from.indices, first, end);
    await this.#run(request, first, end);
    this.#clock.commitRun(stops, first, end);
    return null;
  }

  async #run({ policy, beliefs, stops, trajectory }: RunRequest, first: number, end: number): Promise<void> {
    const fields = {
      policy: POLICY[policy.kind],
      belief_kind: beliefs === null ? BELIEFS.none : BELIEFS[beliefs.kind],
    };
    const arrays: RequestArrays = {
      ...(policy.kind === 'sequence' ? { actions: [policy.actions, NUM_STEPS] } : {}),
      ...(policy.kind === 'random' ? { seeds: [policy.policySeeds, 1] } : {}),
      ...arraysOfBeliefs(beliefs),
      stops: [stops, 1],
    };
    const maxEnvs = trajectory === null ? this.#numEnvs : this.#launcher.rowsPerLaunch(RECORDED_BYTES);
    for (let at = first; at < end; ) {
      const { envs, measure } = this.#submissionSize.next(Math.min(end - at, maxEnvs));
      const startTime = performance.now();
      if (trajectory === null) {
        this.#launcher.launch('run', arrays, fields, at, at + envs);
        if (measure) await this.#launcher.finished();
      } else {
        const take = putTrajectory(trajectory);
        await this.#launcher.launchAndRead('record', RECORDED_BYTES, take, {
          arrays,
          fields,
          first: at,
          end: at + envs,
        });
      }
      if (measure) this.#submissionSize.record(envs, performance.now() - startTime);
      at += envs;
    }
  }

  finished(): Promise<void> {
    return this.#launcher.finished();
  }

  async read(which?: readonly OutputName[]): Promise<void> {
    await this.#launcher.read(piecesOf(this.#launcher.segments, this.#outputs, which));
  }

  gather(source: Batch, indices: Uint32Array): void {
    this.#gather(source as WebGpuBatch, indices, 0, this.#numEnvs);
  }

  #gather(source: WebGpuBatch, indices: Uint32Array, first: number, end: number): void {
    this.#launcher.gather(source.#launcher, indices, first, end);
    this.#clock.gather(source.#clock, indices, first, end);
  }

  async save(indices?: Uint32Array): Promise<Uint32Array> {
    const words = new Uint32Array((indices?.length ?? this.#numEnvs) * STATE_WORDS);
    const take = (rows: Uint32Array, first: number) => words.set(rows, first * STATE_WORDS);
    const bytes = STATE_WORDS * words.BYTES_PER_ELEMENT;
    if (indices === undefined) await this.#launcher.launchAndRead('save', bytes, take);
    else await this.#launcher.rowsAt(indices, bytes, take);
    return words;
  }

  load(words: Uint32Array, keepsOutputs = false): void {
    this.#launcher.launch('load', { rows: [words, STATE_WORDS] }, { keeps_outputs: Number(keepsOutputs) });
    this.#clock.load(words);
  }

  async stateHash(): Promise<BigUint64Array> {
    const hashes = new BigUint64Array(this.#numEnvs);
    const words = new Uint32Array(hashes.buffer);
    await this.#launcher.launchAndRead('hash', hashes.BYTES_PER_ELEMENT, (rows, first) =>
      words.set(rows, 2 * first),
    );
    return hashes;
  }

  async beliefTargets(): Promise<Float32Array> {
    const targets = new Float32Array(this.#numEnvs * NUM_BELIEFS);
    const words = new Uint32Array(targets.buffer);
    const bytes = NUM_BELIEFS * targets.BYTES_PER_ELEMENT;
    await this.#launcher.launchAndRead('targets', bytes, (rows, first) =>
      words.set(rows, NUM_BELIEFS * first),
    );
    return targets;
  }

  replay(request: ReplayRequest): Promise<Refusal | null> {
    return this.#replay.replay(request);
  }

  close(): void {
    this.#replay.close();
    this.#launcher.close();
  }
}

const arraysOfStart = (start: EnvStarts): RequestArrays => ({
  steps: [start.steps, 1],
  meters: [start.meters, NUM_METERS],
  early: [start.early, 1],
  late: [start.late, 1],
  returns: [start.returns, 1],
  crashes: [start.crashes, 1],
  well: [start.well, 1],
  skill: [start.skill, 1],
  beliefs: [start.beliefs, NUM_BELIEFS],
  given: [start.given, 1],
});

function arraysOfBeliefs(beliefs: RunBeliefs | null): RequestArrays {
  if (beliefs === null) return {};
  // Width 0: all environments share the belief.
  if (beliefs.kind === 'constant') return { beliefs: [beliefs.belief, 0] };
  return { beliefs: [beliefs.beliefs, NUM_STEPS * NUM_BELIEFS], given: [beliefs.given, NUM_STEPS] };
}

/** The first size: little work even for a software device. */
const FIRST_ENVS = 4096;
/** The minimum size. With fewer environments, the measured time is mostly overhead. */
const MIN_ENVS = 64;
/**
 * The largest factor of growth from one submission to the next. Chosen by hand: a larger one relies more on the time of a
 * small submission, a smaller one needs more submissions.
 */
const GROWTH = 8;
/** More environments than any batch has. */
const MAX_ENVS = 2 ** 30;

/** The size of the next submission of a batch. */
export class SubmissionSize {
  readonly #maxMs: number;
  #envs = FIRST_ENVS;
  /** Whether a submission of full size, of `#envs` environments at that time, was measured. The last one may be smaller. */
  #isMeasured = false;

  /** @param maxMs the longest time of a submission, in milliseconds. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** Returns the number of environments of the next submission, at most `left`, and whether to measure its time. */
  next(left: number): { readonly envs: number; readonly measure: boolean } {
    const envs = Math.min(left, this.#envs);
    return { envs, measure: !this.#isMeasured || envs < left };
  }

  /** Records the time of a measured submission, and adjusts the size. */
  record(envs: number, ms: number): void {
    // Aims at half of the maximum, because the next environments may take longer. A time of 0 counts as a microsecond.
    const fitting = Math.floor((envs * this.#maxMs) / Math.max(ms, 1e-3) / 2);
    this.#isMeasured = envs >= this.#envs || this.#isMeasured;
    this.#envs = Math.max(MIN_ENVS, Math.min(fitting, envs * GROWTH, MAX_ENVS));
  }
}
