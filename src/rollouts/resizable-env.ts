/** Keeps a vector environment open, and replaces it if another size is needed. */

import { createVecEnv, type Env, openEnv, type VecEnv } from '../engine/node.js';
import type { VecEnvOptions } from '../engine/vec-env/vec-env-options.js';

/** One vector environment, which is replaced when another number of environments is needed. */
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
    this.#env = null;
  }
}

/** Does the same as `ResizableEnv` on any backend. */
export class ResizableAnyEnv implements AsyncDisposable {
  readonly #options: Omit<VecEnvOptions, 'numEnvs'>;
  #env: Env | null = null;

  /** @param options the options of each vector environment. */
  constructor(options: Omit<VecEnvOptions, 'numEnvs'>) {
    this.#options = options;
  }

  /**
   * Returns `numEnvs` environments, valid until the next call. Await the promise before the next call.
   * @throws as `createVecEnv`.
   */
  async of(numEnvs: number): Promise<Env> {
    if (this.#env?.numEnvs === numEnvs) return this.#env;
    const last = this.#env;
    this.#env = null;
    await last?.close();
    this.#env = await openEnv({ numEnvs, ...this.#options });
    return this.#env;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#env?.close();
  }
}
