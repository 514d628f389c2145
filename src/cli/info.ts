/** `rhythm-vec info`: what this installation is and what it can run. */
import type { Command } from 'commander';
import type { Availability } from '../backends/backend.js';
import { NODE } from '../backends/node.js';
import type { Platform } from '../backends/platform.js';
import { describeMachine } from '../evaluate/machine.js';
import { packageVersion } from '../version.js';
import { layoutDigest } from '../world/digest.js';
import { createWorld } from '../world/world.js';

export function addInfoCommand(program: Command): void {
  program
    .command('info')
    .description('Show the version, the digests, and each backend and kernel with whether it can run here.')
    .addHelpText('after', '\nExample:\n  rhythm-vec info\n')
    .action(async () => {
      process.stdout.write(await renderInfo(NODE));
    });
}

/** @param platform whose backends are listed: those that only `createAsyncVecEnv` takes say so. */
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
    const whose = synchronous.includes(backend.name) ? '' : ' (by createAsyncVecEnv)';
    return [
      [`backend ${backend.name}`, usable(await backend.availability(), whose)],
      ...backend.kernels().map((kernel) => [`  kernel ${kernel.name}`, usable(kernel)]),
    ];
  });
  return (await Promise.all(lines)).flat();
}

const usable = ({ available, reason, detail }: Availability, whose = ''): string =>
  available ? `available${whose}${detail ? `: ${detail}` : ''}` : `not available: ${reason}`;
