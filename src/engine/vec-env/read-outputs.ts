/** Reads outputs back from a batch that computes elsewhere, and tracks which of them belong to the last call. */

import { InputError } from '../../shared/errors.js';
import { checkName, describe } from '../../shared/values.js';
import type { AsyncBatch, OutputName } from '../backends/async-backend.js';
import { OUTPUT_ARRAYS } from '../backends/outputs.js';
import type { Core } from './core.js';

const OUTPUT_NAMES = Object.keys(OUTPUT_ARRAYS) as readonly OutputName[];

/** Checks names of outputs. @throws InputError `wrong_type` or `unknown_name`. */
export function toOutputNames(which: readonly OutputName[]): readonly OutputName[] {
  if (Array.isArray(which)) {
    return Array.from(which, (name, k) => checkName(`outputs[${k}]`, name, OUTPUT_NAMES));
  }
  throw new InputError(
    'wrong_type',
    `Expected the names of outputs as an array, got ${describe(which)}. ` +
      "Pass ['rewards'], for instance, or leave it out to read all.",
  );
}

/**
 * Updates outputs. @param which names of outputs; all by default.
 * @throws StateError `outputs_detached` if their memory was transferred in the meantime.
 */
export async function readBack(core: Core<AsyncBatch>, which?: readonly OutputName[]): Promise<void> {
  try {
    await core.batch.read(which);
  } catch (error) {
    // A detached buffer makes the batch fail with an error of its own. This one is clearer.
    core.requireAttached();
    throw error;
  }
  core.requireAttached();
}

export class ReadState {
  readonly #core: Core<AsyncBatch>;
  /** Whether the last call that changed states was a step. Only a step produces final observations. */
  #stepped = false;
  /** The number of environments, from the first, whose episode the last such call may have ended. */
  #reached = 0;

  constructor(core: Core<AsyncBatch>) {
    this.#core = core;
  }

  /** Notes a step, which may have ended any episode. */
  stepped(): void {
    this.#stepped = true;
    this.#reached = this.#core.numEnvs;
  }

  /** Notes another call that changed states. @param reached the number of environments that it may have ended. */
  changed(reached = 0): void {
    this.#stepped = false;
    this.#reached = reached;
  }

  /** Reads outputs back and encodes observations. @param which names of outputs; all by default. */
  async read(which?: readonly OutputName[]): Promise<void> {
    const { outputs, stepOutputs } = this.#core;
    const names = (which ?? OUTPUT_NAMES).filter((name) => outputs[name] !== null);
    // The mask tells which final observations to encode.
    if (names.includes('finalObservations') && !names.includes('finalMask')) names.push('finalMask');
    await readBack(this.#core, which && names);
    if (names.includes('finalMask')) outputs.finalMask.fill(0, this.#reached);
    stepOutputs.afterRead(names, this.#stepped);
  }
}
