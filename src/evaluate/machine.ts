/** On which machine a result was computed, as it must say. */
import { arch, availableParallelism, cpus } from 'node:os';

export interface Machine {
  /** The processor's name. */
  readonly cpu: string;
  readonly cores: number;
  readonly arch: string;
  /** Node's version. */
  readonly node: string;
}

/** The machine that this process runs on. */
export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() || 'unknown',
    cores: availableParallelism(),
    arch: arch(),
    node: process.version,
  };
}
