/** What is read back of a batch that computes elsewhere, and what of it belongs to the last call. */
import type { AsyncBatch, OutputName } from '../backends/async-backend.js';
import { OUTPUT_ARRAYS } from '../backends/outputs.js';
import { InputError } from '../errors.js';
import { checkName, describe } from '../validate/values.js';
import type { Core } from './core.js';

const OUTPUT_NAMES = Object.keys(OUTPUT_ARRAYS) as readonly OutputName[];

/** @throws InputError `wrong_type` or `unknown_name`. */
export function toOutputNames(which: readonly OutputName[]): readonly OutputName[] {
  if (Array.isArray(which)) {
    return Array.from(which, (name, k) => checkName(`outputs[${k}]`, name, OUTPUT_NAMES));
  }
  throw new InputError(
    'wrong_type',
    `Expected the names of outputs as an array, got ${describe(which)}. ` +
      "Pass ['rewards'], for instance, or nothing to read all.",
  );
}

/**
 * Makes outputs current. @param which those; all by default.
 * @throws StateError `outputs_detached` if they were transferred away meanwhile.
 */
export async function readBack(core: Core<AsyncBatch>, which?: readonly OutputName[]): Promise<void> {
  try {
    await core.batch.read(which);
  } catch (error) {
    // A batch that finds no memory to write to says so in words of its own.
    core.requireAttached();
    throw error;
  }
  core.requireAttached();
}

export class Reading {
  readonly #core: Core<AsyncBatch>;
  /** Whether the last call that changed slots was a step: only that leaves final observations. */
  #stepped = false;
  /** How many slots, the first ones, may show that the last such call ended their episode. */
  #reached = 0;

  constructor(core: Core<AsyncBatch>) {
    this.#core = core;
  }

  /** A step was taken, which may have ended any episode. */
  stepped(): void {
    this.#stepped = true;
    this.#reached = this.#core.numEnvs;
  }

  /** Another call than a step has changed the slots. @param reached how many of them it may have ended. */
  changed(reached = 0): void {
    this.#stepped = false;
    this.#reached = reached;
  }

  /** Brings outputs back, and shows them. @param which those; all by default. */
  async read(which?: readonly OutputName[]): Promise<void> {
    const { outputs, shown } = this.#core;
    const names = (which ?? OUTPUT_NAMES).filter((name) => outputs[name] !== null);
    // It says which of the final observations there are to encode.
    if (names.includes('finalObservations') && !names.includes('finalMask')) names.push('finalMask');
    await readBack(this.#core, which && names);
    if (names.includes('finalMask')) outputs.finalMask.fill(0, this.#reached);
    shown.afterRead(names, this.#stepped);
  }
}
