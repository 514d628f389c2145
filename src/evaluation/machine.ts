/** Describes the machine that computed a result. */
import { arch, availableParallelism, cpus } from 'node:os';

export interface Machine {
  /** The processor's name. */
  readonly cpu: string;
  readonly cores: number;
  readonly arch: string;
  /** Node's version. */
  readonly node: string;
}

/** Returns the machine of this process. */
export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() || 'unknown',
    cores: availableParallelism(),
    arch: arch(),
    node: process.version,
  };
}
