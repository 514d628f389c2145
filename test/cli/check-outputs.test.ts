/**
 * `checkOutputs` refuses outputs that would overwrite each other, even if their paths differ. A journal keeps the paid episodes
 * of a language model in files beside the output.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/command-errors.js';
import { checkOutputs } from '../../src/cli/files/check-outputs.js';
import { journalFiles } from '../../src/cli/llm/journal.js';
import { temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
mkdirSync(pathOf('folder'));
symlinkSync(pathOf('folder'), pathOf('same folder'));
writeFileSync(pathOf('there'), '');
symlinkSync(pathOf('there'), pathOf('a link'));
// A grader, in a file with the name of the lock file of `trajectories`.
writeFileSync(pathOf('trajectories.lock'), '{"name":"calm","weights":{"crash_free":1}}');

const json = (name: string) => ({ option: '--json', path: pathOf(name) });
const trajectories = (name: string) => ({
  option: '--trajectories',
  path: pathOf(name),
  workFiles: journalFiles(pathOf(name)),
});

it('checkOutputs accepts the null device for several outputs, but no other path twice', () => {
  const nullDevice = (option: string) => ({ option, path: devNull });
  expect(() =>
    checkOutputs([nullDevice('--json'), nullDevice('--components'), trajectories('x')], 'v2'),
  ).not.toThrow();
  expect(() =>
    checkOutputs([nullDevice('--json'), json('x'), nullDevice('--components'), trajectories('x')], 'v2'),
  ).toThrow(UsageError);
});

describe('checkOutputs refuses', () => {
  it.each([
    [
      'one file twice',
      [json('x'), trajectories('x')],
      `--trajectories to be another file than --json, got ${pathOf('x')}.`,
    ],
    [
      'the same file by another path',
      [json('folder/../x'), trajectories('x')],
      '--trajectories to be another file than --json',
    ],
    [
      'the same file through a link',
      [json('there'), trajectories('a link')],
      '--trajectories to be another file than --json',
    ],
    ['one new file by a linked path', [json('folder/x'), trajectories('same folder/x')], 'than --json, got'],
    [
      'names that some file systems treat as equal',
      [json('Na\u00efve'), trajectories('nAi\u0308ve')],
      'than --json, got',
    ],
    [
      'the same file by another path, in a new folder',
      [json('new/x'), { option: '--trajectories', path: `${pathOf('new')}/folder/../x` }],
      '--trajectories to be another file than --json',
    ],
    [
      'a file of the journal in a new folder',
      [json('new/x.partial'), trajectories('new/x')],
      'than the temporary files of --trajectories',
    ],
    [
      'a file of the journal',
      [json('x.partial'), trajectories('x')],
      `Expected --json to be another file than the temporary files of --trajectories, got ${pathOf('x.partial')}.`,
    ],
    [
      'a file of the journal, in another order',
      [trajectories('x'), json('x.spent')],
      'Expected --json to be another file than the temporary files',
    ],
    [
      'a file of the journal through a link',
      [trajectories('a link'), json('there.lock')],
      'Expected --json to be another file than the temporary files',
    ],
    [
      'a file of the journal in a linked folder',
      [trajectories('folder/x'), json('same folder/x.partial')],
      'than the temporary files',
    ],
  ])('%s', (_, outputs, message) => {
    const refusal = expect(() => checkOutputs(outputs, 'v2'));
    refusal.toThrow(UsageError);
    refusal.toThrow(message);
  });

  it('the standard output twice', () => {
    const outputs = ['--json', '--components'].map((option) => ({ option, path: '-' }));
    expect(() => checkOutputs(outputs, 'v2')).toThrow(
      'Expected --components to be another file than --json, got -.',
    );
  });

  it("the grader's file, also as a file of the journal", () => {
    const grader = pathOf('trajectories.lock');
    expect(() => checkOutputs([json('trajectories.lock')], grader)).toThrow('another file than --grader');
    expect(() => checkOutputs([trajectories('trajectories')], grader)).toThrow('another file than --grader');
  });
});

it('checkOutputs accepts different files, and the name of a journal file if no output has a journal', () => {
  const plain = { option: '--trajectories', path: pathOf('x') };
  expect(() =>
    checkOutputs([json('y'), trajectories('x'), { option: '--components', path: '-' }], 'v2'),
  ).not.toThrow();
  expect(() => checkOutputs([json('x.partial'), plain], pathOf('trajectories.lock'))).not.toThrow();
});
