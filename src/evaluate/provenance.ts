/** What a result must say about where it comes from. */
import { readFileSync } from 'node:fs';
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

/** The package's version. */
export function packageVersion(): string {
  // From src/evaluate and dist/evaluate alike.
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
