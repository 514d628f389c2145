/** Describes the machine that computed a result. */
import { readFileSync } from 'node:fs';
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
    cpu: processorName(cpus()[0]?.model ?? '', readCpuInfo),
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

function readCpuInfo(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    return ''; // not Linux
  }
}
