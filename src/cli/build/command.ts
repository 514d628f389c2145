/** `rhythm-vec build`: compiles the native addon. */
import type { Command } from 'commander';
import type { Context } from '../context.js';

const HELP = `
The package has addons for common platforms, and needs this command only where none of them loads: "rhythm-vec info" says so.
Compilation takes a minute or two. It needs Python 3, and a C++17 compiler: GCC or Clang with make, or Visual Studio with Clang.
If it fails or is interrupted, an addon that was compiled before stays.

Example:
  rhythm-vec build
`;

export function addBuildCommand(program: Command, { signal }: Context): void {
  program
    .command('build')
    .description('Compile the native addon for this machine, where the package has none that loads.')
    .addHelpText('after', HELP)
    .action(async () => {
      const { runBuild } = await import('./run-build.js');
      await runBuild(signal);
    });
}
