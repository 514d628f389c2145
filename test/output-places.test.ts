/** Outputs that would take each other's place: refused before anything is done, by whatever names. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../src/cli/failure.js';
import { checkOutputs } from '../src/cli/files/output-places.js';
import { journalFiles } from '../src/cli/llm/journal.js';
import { temporaryDirectory } from './support/cli.js';

const file = temporaryDirectory();
mkdirSync(file('folder'));
symlinkSync(file('folder'), file('same folder'));
writeFileSync(file('there'), '');
symlinkSync(file('there'), file('a link'));
writeFileSync(file('weeks.lock'), '{"name":"calm","weights":{"crash_free":1}}');

const json = (name: string) => ({ option: '--json', path: file(name) });
const weeks = (name: string) => ({
  option: '--trajectories',
  path: file(name),
  meanwhile: journalFiles(file(name)),
});

describe('refuses', () => {
  it.each([
    [
      'one file twice',
      [json('x'), weeks('x')],
      `--trajectories to be another file than --json, got ${file('x')}.`,
    ],
    ['by another way', [json('folder/../x'), weeks('x')], '--trajectories to be another file than --json'],
    ['through a link', [json('there'), weeks('a link')], '--trajectories to be another file than --json'],
    ['a new one in a folder of two names', [json('folder/x'), weeks('same folder/x')], 'than --json, got'],
    [
      'what is kept meanwhile',
      [json('x.partial'), weeks('x')],
      `Expected --json to be another file than those kept until --trajectories is whole, got ${file('x.partial')}.`,
    ],
    [
      'the same in another order',
      [weeks('x'), json('x.spent')],
      'Expected --json to be another file than those kept',
    ],
    [
      'the same through a link',
      [weeks('a link'), json('there.lock')],
      'Expected --json to be another file than those',
    ],
    [
      'the same in a folder of two names',
      [weeks('folder/x'), json('same folder/x.partial')],
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

  it("the grader's file, also as what is kept meanwhile", () => {
    const grader = file('weeks.lock');
    expect(() => checkOutputs([json('weeks.lock')], grader)).toThrow('another file than --grader');
    expect(() => checkOutputs([weeks('weeks')], grader)).toThrow('another file than --grader');
  });
});

it('lets pass what is apart, and names of a journal where none is kept', () => {
  const plain = { option: '--trajectories', path: file('x') };
  expect(() =>
    checkOutputs([json('y'), weeks('x'), { option: '--components', path: '-' }], 'v2'),
  ).not.toThrow();
  expect(() => checkOutputs([json('x.partial'), plain], file('weeks.lock'))).not.toThrow();
});
