/** Describes the machine that computed a result. */
import { arch, availableParallelism, cpus } from 'node:os';

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
    cpu: cpus()[0]?.model.trim() || 'unknown',
    cores: availableParallelism(),
    arch: arch(),
    node: process.version,
  };
}
