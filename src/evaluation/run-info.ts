/** Describes a run and its machine, so that others can reproduce its results. */
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus } from 'node:os';
import type { Grader, GraderWeights } from '../engine/graders/grader.js';
import { AsyncVecEnv, type Env } from '../engine/node.js';
import { packageVersion } from '../shared/version.js';

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
export function describeRun(env: Env, grader: Grader): RunInfo {
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

/** A machine, as its operating system and Node describe it. */
export interface Machine {
  /** The processor's name. */
  readonly cpu: string;
  /** The number of threads that this process can run at once. */
  readonly cores: number;
  /** The architecture, such as "x64". */
  readonly arch: string;
  /** Node's version. */
  readonly node: string;
}

/** Returns the machine of this process. */
export function describeMachine(): Machine {
  return {
    cpu: processorName(readModel(), readCpuInfo),
    cores: availableParallelism(),
    arch: arch(),
    node: process.version,
  };
}

/**
 * Returns a processor's name. Node knows few names of ARM processors; the others are named by the numbers of Linux.
 * @param model the name by Node, which may be empty or "unknown".
 * @param cpuInfo returns the text of /proc/cpuinfo. Called only if Node knows no name.
 */
export function processorName(model: string, cpuInfo: () => string): string {
  const known = model.trim();
  if (known !== '' && known !== 'unknown') return known;
  const numbers = /^CPU implementer\s*: (\S+)$[\s\S]*?^CPU part\s*: (\S+)$/m.exec(cpuInfo());
  return `${arch()} processor${numbers === null ? '' : ` (implementer ${numbers[1]}, part ${numbers[2]})`}`;
}

function readModel(): string {
  try {
    return cpus()[0]?.model ?? '';
  } catch {
    return ''; // Deno without --allow-sys
  }
}

function readCpuInfo(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    return ''; // not Linux
  }
}
