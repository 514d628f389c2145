/** Describes a run and its machine, so that others can reproduce its results. */
import type { Grader, GraderWeights } from '../engine/graders/grader.js';
import { type AnyVecEnv, AsyncVecEnv } from '../engine/node.js';
import { packageVersion } from '../shared/version.js';
import { describeMachine, type Machine } from './machine.js';

/** A description of a run. */
export interface RunInfo {
  /** The version of this package. */
  readonly version: string;
  /** SHA-256 of the world's numbers, hexadecimal. */
  readonly worldDigest: string;
  /** The backend that ran. */
  readonly backend: string;
  /** Why this backend was chosen. Commands leave it out of their JSON. */
  readonly backendReason: string;
  /** The kernel that ran. */
  readonly kernel: string;
  /** The maximum number of threads. */
  readonly threads: number;
  /** The name of the backend's device; null for a backend on the processor. */
  readonly device: string | null;
  /** Processor, architecture and Node version. */
  readonly machine: Machine;
  /** The grader's name. */
  readonly grader: string;
  /** The weight of each component. */
  readonly graderWeights: GraderWeights;
}

/** Describes a run. @param env any environment with the run's settings. */
export function describeRun(env: AnyVecEnv, grader: Grader): RunInfo {
  const { backend, backendReason, kernel, threads, world } = env;
  return {
    version: packageVersion(),
    worldDigest: world.digest,
    backend,
    backendReason,
    kernel,
    threads,
    device: env instanceof AsyncVecEnv ? (env.device?.adapter ?? null) : null,
    machine: describeMachine(),
    grader: grader.name,
    graderWeights: grader.weights,
  };
}
