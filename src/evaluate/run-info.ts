/** What ran, and where: what results carry so that they can be made again. */
import type { Grader, GraderWeights } from '../graders/grader.js';
import type { VecEnv } from '../vec-env.js';
import { packageVersion } from '../version.js';
import { describeMachine, type Machine } from './machine.js';

export interface RunInfo {
  readonly version: string;
  readonly worldDigest: string;
  readonly backend: string;
  /** Why this backend; not part of the JSON. */
  readonly backendReason: string;
  readonly kernel: string;
  readonly threads: number;
  readonly machine: Machine;
  /** The grader's name, and what each component weighs. */
  readonly grader: string;
  readonly graderWeights: GraderWeights;
}

/** @param env any environment that runs as the others do. */
export function describeRun(env: VecEnv, grader: Grader): RunInfo {
  const { backend, backendReason, kernel, threads, world } = env;
  return {
    version: packageVersion(),
    worldDigest: world.digest,
    backend,
    backendReason,
    kernel,
    threads,
    machine: describeMachine(),
    grader: grader.name,
    graderWeights: grader.weights,
  };
}
