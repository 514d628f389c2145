/** `rhythm-vec info`: shows the version, the digests, and what can run here. */
import type { Command } from 'commander';
import type { Availability } from '../engine/backends/backend.js';
import { NODE } from '../engine/backends/node.js';
import type { Platform } from '../engine/backends/open-batch.js';
import { describeMachine } from '../evaluation/run-info.js';
import { packageVersion } from '../shared/version.js';
import { layoutDigest } from '../world/block.js';
import { createWorld } from '../world/world.js';

export function defineInfo(command: Command): void {
  command.addHelpText('after', '\nExample:\n  rhythm-vec info\n').action(async () => {
    process.stdout.write(await renderInfo(NODE));
  });
}

/** Returns the lines of `info`. A note marks available backends that `createVecEnv` refuses. */
export async function renderInfo(platform: Platform): Promise<string> {
  const { cpu, cores, arch, node } = describeMachine();
  const lines = [
    ['version', packageVersion()],
    ['world digest', createWorld().digest],
    ['layout digest', layoutDigest()],
    ['machine', `${cpu}, ${cores} cores, ${arch}, node ${node}`],
    ...(await backendLines(platform)),
  ];
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  return lines.map(([name, value]) => `${name.padEnd(width)}${value}\n`).join('');
}

async function backendLines({ backends, asyncBackends }: Platform): Promise<string[][]> {
  const synchronous = backends.map(({ name }) => name);
  const lines = asyncBackends.map(async (backend) => {
    const suffix = synchronous.includes(backend.name) ? '' : ' (by createAsyncVecEnv and commands)';
    return [
      [`backend ${backend.name}`, availabilityText(await backend.availability(), suffix)],
      ...backend.kernels().map((kernel) => [`  kernel ${kernel.name}`, availabilityText(kernel)]),
    ];
  });
  return (await Promise.all(lines)).flat();
}

const availabilityText = ({ available, reason, detail }: Availability, suffix = ''): string =>
  available ? `available${suffix}${detail ? `: ${detail}` : ''}` : `not available: ${reason}`;
