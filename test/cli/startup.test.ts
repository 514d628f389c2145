import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MAIN } from '../support/cli.js';

const COMPILED = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Prints the URL of each module that the process loads, to the standard error. */
const HOOKS = `
  import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    writeSync(2, url + '\\n');
    return next(url, context);
  }`;
const REGISTER = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(HOOKS))});`;

function dataUrl(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

/** Returns the modules of this package that a program loads, relative to dist or lib, sorted. */
function modulesOf(main: string, args = ''): string[] {
  const { stderr } = spawnSync(process.execPath, ['--import', dataUrl(REGISTER), main, ...args.split(' ')], {
    encoding: 'utf8',
  });
  return Array.from(stderr.matchAll(/^file:.*\/(?:dist|lib)\/(.*)$/gm), ([, path]) => path)
    .filter((path) => !path.includes('node_modules'))
    .sort();
}

/** Returns the chunks of lib that a program loads, without the digests of their names. */
const chunksOf = (main: string, args?: string): string[] =>
  modulesOf(main, args).map((path) => path.replace(/-[\w-]{8}\.js$/, ''));

/** What every command line loads. */
const START = [
  'cli/command-errors.js',
  'cli/commands.js',
  'cli/files/paths.js',
  'cli/main.js',
  'cli/queue/commands.js',
  'shared/errors.js',
  'shared/names.js',
  'shared/version.js',
];

describe('the modules that the command line loads', () => {
  it.each(['--help', 'queue --help', 'queue submit --help', 'dataset --help', 'evla'])(
    '%s: of no command',
    (args) => {
      expect(modulesOf(COMPILED, args)).toEqual(START);
    },
  );

  it('a command: of no other command', () => {
    const modules = modulesOf(COMPILED, 'queue submit eval --help');
    expect(modules).toContain('cli/eval/command.js');
    expect(modules).not.toContain('cli/teach.js');
    expect(modulesOf(COMPILED, 'eval --help')).not.toContain('cli/queue/submit.js');
  });

  it('in the bundle: no chunk of a room', () => {
    expect(chunksOf(MAIN, '--help')).toEqual([
      'cli.js',
      'command-errors',
      'commands',
      'errors',
      'paths',
      'rolldown-runtime',
    ]);
  });
});

it('the library loads the chunks of its rooms, without zod, which is for files', () => {
  const chunks = new Set(chunksOf(fileURLToPath(new URL('../../lib/index.js', import.meta.url))));
  for (const room of ['engine', 'rollouts', 'agents', 'evaluation']) expect(chunks).toContain(room);
  expect(chunks).not.toContain('trajectories');
});
