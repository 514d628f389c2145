/** Keeps a vector environment open, and replaces it if another size is needed. */

import { createVecEnv, type VecEnv } from '../engine/node.js';
import type { VecEnvOptions } from '../engine/vec-env/vec-env-options.js';

export class ResizableEnv implements Disposable {
  readonly #options: Omit<VecEnvOptions, 'numEnvs'>;
  #env: VecEnv | null = null;

  /** @param options the options of each vector environment. */
  constructor(options: Omit<VecEnvOptions, 'numEnvs'>) {
    this.#options = options;
  }

  /** Returns `numEnvs` environments, valid until the next call. @throws as `createVecEnv`. */
  of(numEnvs: number): VecEnv {
    if (this.#env?.numEnvs === numEnvs) return this.#env;
    this[Symbol.dispose]();
    this.#env = createVecEnv({ numEnvs, ...this.#options });
    return this.#env;
  }

  [Symbol.dispose](): void {
    this.#env?.close();
  }
}
