/** The outputs of a call: the batch's outputs with encoded observations, as views or copies. */

import { InputError } from '../../shared/errors.js';
import { checkName, describe } from '../../shared/values.js';
import type { World } from '../../world/world.js';
import type { OutputName, Outputs } from '../backends/backend.js';
import { OUTPUT_ARRAYS } from '../backends/outputs.js';
import {
  type EncodedField,
  isRaw,
  ObservationEncoder,
  type ObservationOptions,
  RAW_FIELDS,
} from '../observe/encoding.js';
import { HistoryRows } from '../observe/history.js';
import type { AutoresetPlan } from './autoreset.js';
import type { StepResult } from './vec-env-options.js';

/** The names of all outputs. */
export const OUTPUT_NAMES = Object.keys(OUTPUT_ARRAYS) as readonly OutputName[];

/** Validates names of outputs. @throws InputError `wrong_type` or `unknown_name`. */
export function toOutputNames(which: readonly OutputName[]): readonly OutputName[] {
  if (Array.isArray(which)) {
    return Array.from(which, (name, k) => checkName(`outputs[${k}]`, name, OUTPUT_NAMES));
  }
  throw new InputError('wrong_type', {
    expected: 'the names of outputs as an array',
    got: describe(which),
    remedy: "Pass ['rewards'], for instance, or leave the names out to read all outputs.",
  });
}

/** Options of `StepOutputs`. */
export interface StepOutputsOptions {
  readonly world: World;
  readonly observation: ObservationOptions;
  readonly copy: boolean;
}

/** The arrays that the calls of one `VecEnv` or `AsyncVecEnv` return. */
export class StepOutputs {
  /** The fields of an observation. */
  readonly fields: readonly EncodedField[];
  /** The last steps of each environment; null if observations have no history. */
  readonly history: HistoryRows | null;
  readonly #outputs: Outputs;
  readonly #encoder: ObservationEncoder | null;
  readonly #result: StepResult;
  readonly #copy: boolean;
  /** u8 [numEnvs], with histories only: the environments that stepped and were not reset. */
  readonly #steppedMask: Uint8Array;

  /** Allocates the arrays of the results. @throws InputError for invalid observation options. */
  constructor(outputs: Outputs, { world, observation, copy }: StepOutputsOptions) {
    const numEnvs = outputs.rewards.length;
    this.#encoder = isRaw(observation) ? null : new ObservationEncoder(world, observation, numEnvs);
    this.history = observation.history ? new HistoryRows(numEnvs) : null;
    this.fields = this.#encoder?.fields ?? RAW_FIELDS;
    this.#outputs = outputs;
    this.#copy = copy;
    this.#steppedMask = new Uint8Array(this.history === null ? 0 : numEnvs);
    this.#result = Object.freeze({ ...outputs, ...this.#encodedViews(), truncated: new Uint8Array(numEnvs) });
  }

  /** Allocates the arrays of encoded observations; {} without an encoder. */
  #encodedViews(): Partial<StepResult> {
    if (this.#encoder === null) return {};
    const { columnStride, rewards, finalObservations } = this.#outputs;
    // In the row-major layout columnStride is 0.
    const length = this.#encoder.size * (columnStride || rewards.length);
    return {
      observations: new Float32Array(length),
      finalObservations: finalObservations && new Float32Array(length),
    };
  }

  /** Whether the views have their memory. A transferred buffer leaves them empty. */
  get attached(): boolean {
    const { observations, finalObservations, truncated } = this.#result;
    return (
      this.#outputs.rewards.length > 0 &&
      observations.length > 0 &&
      finalObservations?.length !== 0 &&
      truncated.length > 0
    );
  }

  /** Returns the outputs of a call that did not step. */
  current(): StepResult {
    this.refresh();
    return this.result();
  }

  /** Encodes the current observations, and clears the final observations, which only a step produces. */
  refresh(): void {
    this.#encode();
    this.#result.finalObservations?.fill(0);
  }

  /** Clears the histories of the environments in `mask` (null for all), and returns the outputs. */
  afterReset(mask: Uint8Array | null): StepResult {
    this.history?.clear(mask);
    return this.current();
  }

  /** Returns the outputs of a step. Allocates nothing, except with the option `copy`. */
  afterStep(plan: Readonly<AutoresetPlan>): StepResult {
    if (this.#encoder !== null) {
      if (this.history !== null) this.#recordStep(this.history, plan);
      this.#encodeFinal(plan.resetMask !== null);
      if (plan.resetMask !== null) this.history?.clear(plan.resetMask);
      this.#encode();
    }
    return this.result();
  }

  /**
   * Encodes outputs that were read back from an asynchronous batch, possibly long after the last step.
   * @param names the outputs that were read back.
   * @param isAfterStep whether the last call that changed states was a step. Only steps produce final observations.
   */
  afterRead(names: readonly (keyof Outputs)[], isAfterStep: boolean): void {
    if (names.includes('observations')) this.#encode();
    // With histories, the step itself encodes final observations, because it clears the histories of ended episodes.
    if (this.history !== null || !names.includes('finalObservations')) return;
    if (isAfterStep) this.#encodeFinal(true);
    else this.#result.finalObservations?.fill(0);
  }

  /** Adds the last step to the histories. If an environment was reset after it, the step is in its final observation. */
  #recordStep(history: HistoryRows, { stepMask, resetMask }: Readonly<AutoresetPlan>): void {
    const { observations, finalObservations, finalMask, columnStride } = this.#outputs;
    if (resetMask === null || finalObservations === null) {
      history.push(observations, stepMask, columnStride);
      return;
    }
    for (let i = 0; i < this.#steppedMask.length; i++) {
      this.#steppedMask[i] = Number((stepMask === null || stepMask[i] !== 0) && resetMask[i] === 0);
    }
    history.push(observations, this.#steppedMask, columnStride);
    history.push(finalObservations, finalMask, columnStride);
  }

  /** Encodes the final observations. @param mayHaveEnded whether any episode may have ended. */
  #encodeFinal(mayHaveEnded: boolean): void {
    const { finalObservations, finalMask, columnStride } = this.#outputs;
    const encoded = this.#result.finalObservations;
    // Without an encoder the results are the raw observations.
    if (this.#encoder === null || finalObservations === null || encoded === null) return;
    encoded.fill(0);
    if (!mayHaveEnded) return;
    this.#encoder.encode(finalObservations, columnStride, this.history, encoded, columnStride, finalMask);
  }

  #encode(): void {
    const { observations, columnStride } = this.#outputs;
    this.#encoder?.encode(
      observations,
      columnStride,
      this.history,
      this.#result.observations,
      columnStride,
      null,
    );
  }

  /** Returns the views, or copies of them with the option `copy`. */
  result(): StepResult {
    return this.#copy ? copyResult(this.#result) : this.#result;
  }
}

/** Returns a result with copies of all arrays. */
function copyResult(result: StepResult): StepResult {
  const copies = Object.entries(result).map(([name, value]) => [
    name,
    ArrayBuffer.isView(value) ? (value as Float32Array).slice() : value,
  ]);
  return Object.freeze(Object.fromEntries(copies));
}
