/** `checkOutputs` refuses outputs that would overwrite each other, even if their paths differ. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/failure.js';
import { checkOutputs } from '../../src/cli/files/output-places.js';
import { journalFiles } from '../../src/cli/llm/journal.js';
import { temporaryDirectory } from '../support/cli.js';

const file = temporaryDirectory();
mkdirSync(file('folder'));
symlinkSync(file('folder'), file('same folder'));
writeFileSync(file('there'), '');
symlinkSync(file('there'), file('a link'));
writeFileSync(file('trajectories.lock'), '{"name":"calm","weights":{"crash_free":1}}');

const json = (name: string) => ({ option: '--json', path: file(name) });
const trajectories = (name: string) => ({
  option: '--trajectories',
  path: file(name),
  workFiles: journalFiles(file(name)),
});

it('accepts the null device for several outputs, but no other path twice', () => {
  const nullDevice = (option: string) => ({ option, path: devNull });
  expect(() =>
    checkOutputs([nullDevice('--json'), nullDevice('--components'), trajectories('x')], 'v2'),
  ).not.toThrow();
  expect(() =>
    checkOutputs([nullDevice('--json'), json('x'), nullDevice('--components'), trajectories('x')], 'v2'),
  ).toThrow(UsageError);
});

describe('refuses', () => {
  it.each([
    [
      'one file twice',
      [json('x'), trajectories('x')],
      `--trajectories to be another file than --json, got ${file('x')}.`,
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
    ['a new file in a linked folder', [json('folder/x'), trajectories('same folder/x')], 'than --json, got'],
    [
      'names that some file systems treat as equal',
      [json('Na\u00efve'), trajectories('nAi\u0308ve')],
      'than --json, got',
    ],
    [
      'a file of the journal',
      [json('x.partial'), trajectories('x')],
      `Expected --json to be another file than those kept until --trajectories is complete, got ${file('x.partial')}.`,
    ],
    [
      'a file of the journal, in another order',
      [trajectories('x'), json('x.spent')],
      'Expected --json to be another file than those kept',
    ],
    [
      'a file of the journal through a link',
      [trajectories('a link'), json('there.lock')],
      'Expected --json to be another file than those',
    ],
    [
      'a file of the journal in a linked folder',
      [trajectories('folder/x'), json('same folder/x.partial')],
      'than those kept',
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
    const grader = file('trajectories.lock');
    expect(() => checkOutputs([json('trajectories.lock')], grader)).toThrow('another file than --grader');
    expect(() => checkOutputs([trajectories('trajectories')], grader)).toThrow('another file than --grader');
  });
});

it('accepts different files, and names of journal files without a journal', () => {
  const plain = { option: '--trajectories', path: file('x') };
  expect(() =>
    checkOutputs([json('y'), trajectories('x'), { option: '--components', path: '-' }], 'v2'),
  ).not.toThrow();
  expect(() => checkOutputs([json('x.partial'), plain], file('trajectories.lock'))).not.toThrow();
});
