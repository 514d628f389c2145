/** Reads outputs back from an asynchronous batch. */

import { InputError } from '../../shared/errors.js';
import { checkName, describe } from '../../shared/values.js';
import type { AsyncBatch, OutputName } from '../backends/async-backend.js';
import { OUTPUT_ARRAYS } from '../backends/outputs.js';
import type { Core } from './core.js';

const OUTPUT_NAMES = Object.keys(OUTPUT_ARRAYS) as readonly OutputName[];

/** Validates names of outputs. @throws InputError `wrong_type` or `unknown_name`. */
export function toOutputNames(which: readonly OutputName[]): readonly OutputName[] {
  if (Array.isArray(which)) {
    return Array.from(which, (name, k) => checkName(`outputs[${k}]`, name, OUTPUT_NAMES));
  }
  throw new InputError(
    'wrong_type',
    `Expected the names of outputs as an array, got ${describe(which)}. ` +
      "Pass ['rewards'], for instance, or leave the names out to read all outputs.",
  );
}

/**
 * Reads outputs of the batch back into their arrays. @param which names of outputs; all by default.
 * @throws StateError `outputs_detached` if their memory was transferred in the meantime.
 */
export async function readBack(core: Core<AsyncBatch>, which?: readonly OutputName[]): Promise<void> {
  try {
    await core.batch.read(which);
  } catch (error) {
    // A batch with a detached buffer throws an unclear error. This check throws a clear one.
    core.requireAttached();
    throw error;
  }
  core.requireAttached();
}

/** Reads outputs back. Records which final observations and entries of `finalMask` belong to the last call. */
export class ReadState {
  readonly #core: Core<AsyncBatch>;
  /** Whether the last call that changed states was a step. Only a step produces final observations. */
  #isAfterStep = false;
  /** The last call that changed states may have ended episodes of the environments before this index. */
  #end = 0;

  constructor(core: Core<AsyncBatch>) {
    this.#core = core;
  }

  /** Records a step, which may have ended any episode. */
  commitStep(): void {
    this.#isAfterStep = true;
    this.#end = this.#core.numEnvs;
  }

  /**
   * Records a call that changed states and is not a step.
   * @param end the call may have ended episodes of the environments before `end`.
   */
  commitChange(end = 0): void {
    this.#isAfterStep = false;
    this.#end = end;
  }

  /** Reads outputs back and encodes observations. @param which names of outputs; all by default. */
  async read(which?: readonly OutputName[]): Promise<void> {
    const { outputs, stepOutputs } = this.#core;
    const names = (which ?? OUTPUT_NAMES).filter((name) => outputs[name] !== null);
    // The encoding of final observations needs the mask.
    if (names.includes('finalObservations') && !names.includes('finalMask')) names.push('finalMask');
    await readBack(this.#core, which && names);
    if (names.includes('finalMask')) outputs.finalMask.fill(0, this.#end);
    stepOutputs.afterRead(names, this.#isAfterStep);
  }
}
