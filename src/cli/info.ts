/** `rhythm-vec info`: what this installation is and what it can run. */
import type { Command } from 'commander';
import type { Availability } from '../backends/backend.js';
import { BACKENDS } from '../backends/node.js';
import { describeMachine, packageVersion } from '../evaluate/provenance.js';
import { layoutDigest } from '../world/digest.js';
import { createWorld } from '../world/world.js';

export function addInfoCommand(program: Command): void {
  program
    .command('info')
    .description('Show the version, the digests, and each backend and kernel with whether it can run here.')
    .addHelpText('after', '\nExample:\n  rhythm-vec info\n')
    .action(() => {
      process.stdout.write(renderInfo());
    });
}

function renderInfo(): string {
  const { cpu, cores, arch, node } = describeMachine();
  const lines = [
    ['version', packageVersion()],
    ['world digest', createWorld().digest],
    ['layout digest', layoutDigest()],
    ['machine', `${cpu}, ${cores} cores, ${arch}, node ${node}`],
    ...BACKENDS.flatMap((backend) => [
      [`backend ${backend.name}`, usable(backend.availability())],
      ...backend.kernels().map((kernel) => [`  kernel ${kernel.name}`, usable(kernel)]),
    ]),
  ];
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  return lines.map(([name, value]) => `${name.padEnd(width)}${value}\n`).join('');
}

const usable = ({ available, reason }: Availability): string =>
  available ? 'available' : `not available: ${reason}`;
