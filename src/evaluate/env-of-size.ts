/** One environment at a time, of the size that a batch needs: most batches need the same. */
import type { VecEnvOptions } from '../vec-env/options.js';
import { createVecEnv, type VecEnv } from '../vec-env.js';

export class EnvOfSize implements Disposable {
  readonly #options: Omit<VecEnvOptions, 'numEnvs'>;
  #env: VecEnv | null = null;

  /** @param options those of every environment that it opens. */
  constructor(options: Omit<VecEnvOptions, 'numEnvs'>) {
    this.#options = options;
  }

  /** An environment of `numEnvs` slots, valid until the next call. @throws as `createVecEnv`. */
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
