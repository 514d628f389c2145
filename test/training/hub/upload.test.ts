/** Uploads to a fake Hub: created repositories, sent files and commits, concurrent commits of others, and lost answers. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FakeHub } from '../../fakes/hub.js';
import { addCommit, commitAt, newRepo, regularFile } from '../../fakes/hub-store.js';
import {
  bytes,
  changesOf,
  countOf,
  directoryOf,
  REPO,
  startHub,
  textsAt,
  uploadTo,
} from '../../support/hub.js';

const PUT = /^PUT /;
const COMMIT = /\/commit\//;
/** Another client's commit of a file, or creation of the repository. */
const commitOf = (hub: FakeHub, name: string, content: string) => () =>
  addCommit(hub.repo('dataset', REPO.name)!, 'main', new Map([[name, regularFile(Buffer.from(content))]]));
const creation = (hub: FakeHub) => () =>
  hub.repos.set(`dataset ${REPO.name}`, newRepo('dataset', REPO.name, false));

describe('a first upload', () => {
  it('creates the repository, and makes one commit', async () => {
    const hub = await startHub();
    const at = directoryOf({ 'README.md': '# Card', 'train.parquet': bytes(2000), 'x/empty.txt': '' });
    const message = { title: 'Episodes', description: 'of a teacher' };
    const { url, plan } = await uploadTo(hub, [at], { message });
    const changes = { 'README.md': 'new', 'train.parquet': 'new', 'x/empty.txt': 'new' };
    expect(changesOf(plan.planned)).toEqual(changes);
    const files = { 'README.md': '# Card', 'train.parquet': bytes(2000).toString(), 'x/empty.txt': '' };
    expect(textsAt(hub)).toEqual(files);
    const { private: isPrivate, branches } = hub.repo('dataset', REPO.name)!;
    const [, { title, description, id }, ...more] = branches.get('main')!;
    expect([isPrivate, title, description, more]).toEqual([false, 'Episodes', 'of a teacher', []]);
    expect(url).toBe(`${hub.url}/datasets/newcomer/episodes/commit/${id}`);
  });

  it('creates a private repository, and a model repository', async () => {
    const hub = await startHub();
    await uploadTo(hub, [directoryOf({ x: 'x' })], { private: true, repo: { ...REPO, type: 'model' } });
    expect(hub.repo('model', REPO.name)?.private).toBe(true);
    expect(textsAt(hub, 'main', 'model')).toEqual({ x: 'x' });
    expect(hub.repo('dataset', REPO.name)).toBeUndefined();
  });

  it('sends large files in parts, and reports bytes read and sent', async () => {
    const hub = await startHub({ large: 1000, part: 100_000 });
    const { progress } = await uploadTo(hub, [directoryOf({ big: bytes(250_001), small: 's' })]);
    expect(countOf(hub, /^PUT .*part=/)).toBe(3);
    expect(textsAt(hub)).toEqual({ big: bytes(250_001).toString(), small: 's' });
    expect(progress).toMatchObject({ read: 250_002, sent: 250_001 });
  });

  it('creates a missing branch from the default branch', async () => {
    const hub = await startHub();
    await uploadTo(hub, [directoryOf({ a: 'a', b: 'b' })]);
    const { plan } = await uploadTo(hub, [directoryOf({ b: 'b', c: 'c' })], { branch: 'dev/1' });
    expect(changesOf(plan.planned)).toEqual({ b: 'same', c: 'new' });
    expect(textsAt(hub, 'dev/1')).toEqual({ a: 'a', b: 'b', c: 'c' });
    expect(textsAt(hub)).toEqual({ a: 'a', b: 'b' });
  });
});

describe('a second upload', () => {
  it('of the same files sends and commits nothing', async () => {
    const hub = await startHub({ large: 1000 });
    const at = directoryOf({ big: bytes(5000), small: 's' });
    await uploadTo(hub, [at]);
    hub.requests.length = 0;
    const { url, plan } = await uploadTo(hub, [at]);
    expect([url, changesOf(plan.planned)]).toEqual([null, { big: 'same', small: 'same' }]);
    expect(countOf(hub, /^PUT |\/commit\/|preupload|batch|create/)).toBe(0);
  });

  it('sends files that differ, even if their size is the same, and keeps the other files', async () => {
    const hub = await startHub({ large: 1000 });
    const at = directoryOf({ big: bytes(5000), other: bytes(5000, 'o'), small: 's', kept: 'k' });
    await uploadTo(hub, [at]);
    writeFileSync(join(at, 'big'), bytes(5000, 'y'));
    writeFileSync(join(at, 'small'), 't');
    hub.requests.length = 0;
    const { plan } = await uploadTo(hub, [at]);
    const changes = { big: 'changed', kept: 'same', other: 'same', small: 'changed' };
    expect(changesOf(plan.planned)).toEqual(changes);
    expect(countOf(hub, PUT)).toBe(1);
    expect(textsAt(hub)).toMatchObject({ big: bytes(5000, 'y').toString(), small: 't', kept: 'k' });
  });

  it('after an interrupted upload sends only the missing contents', async () => {
    const hub = await startHub({ large: 1000 });
    const at = directoryOf(
      Object.fromEntries(Array.from({ length: 8 }, (_, k) => [`f${k}`, bytes(5000, `f${k}`)])),
    );
    hub.faults.add({ pattern: PUT, after: 3, action: { answer: 400, body: 'no more' } });
    await expect(uploadTo(hub, [at])).rejects.toThrow(/got status 400 \(no more\)/);
    const stored = hub.repo('dataset', REPO.name)!.objects.size;
    expect([stored >= 3, countOf(hub, COMMIT), textsAt(hub)]).toEqual([true, 0, {}]);
    hub.faults.clear();
    hub.requests.length = 0;
    await uploadTo(hub, [at]);
    expect([countOf(hub, PUT), Object.keys(textsAt(hub)).length]).toEqual([8 - stored, 8]);
  });
});

describe('a concurrent change', () => {
  const upload = { small: 'ours', x: 'x' };

  it.each([
    ['of the same file', 'small'],
    ['of another file', 'theirs'],
  ])('%s prevents the commit, and the same upload succeeds later', async (_, name) => {
    const hub = await startHub();
    await uploadTo(hub, [directoryOf({ small: 'before' })]);
    const at = directoryOf(upload);
    await expect(uploadTo(hub, [at], { between: commitOf(hub, name, 'theirs') })).rejects.toThrow(
      /status 412.*Another commit was made meanwhile\. Run the same command again/,
    );
    expect(textsAt(hub)).toEqual({ small: 'before', [name]: 'theirs' });
    await uploadTo(hub, [at]);
    expect(textsAt(hub)).toMatchObject(upload);
  });

  it('that creates the repository does not prevent the upload, unless it is private', async () => {
    const hub = await startHub();
    await uploadTo(hub, [directoryOf(upload)], { between: creation(hub) });
    expect(textsAt(hub)).toEqual(upload);
    const refused = uploadTo(hub, [directoryOf(upload)], { private: true });
    await expect(refused).rejects.toThrow(
      /to be private, as --private demands, but it is public\. Nothing was uploaded/,
    );
    const other = await startHub();
    const late = uploadTo(other, [directoryOf(upload)], { private: true, between: creation(other) });
    await expect(late).rejects.toThrow(/but it is public\. Nothing was uploaded/);
    expect(textsAt(other)).toEqual({});
  });
});

describe('a lost answer', () => {
  it.each([
    ['to the creation of the repository', /repos\/create/],
    ['to the creation of a branch', /\/branch\//],
    ['to a large file', /^PUT/],
    ['to the completion of a large file', /complete$/],
    ['to the request for the URLs of large files', /batch$/],
  ])('%s makes the client repeat the request, and creates nothing twice', async (_, pattern) => {
    const hub = await startHub({ large: 1000, part: 2000 });
    hub.faults.add({ pattern, times: 1, action: { loseAnswer: true } });
    const at = directoryOf({ big: bytes(5000), single: bytes(1500), small: 's' });
    const { progress } = await uploadTo(hub, [at], { branch: 'dev' });
    expect(progress.waits).toHaveLength(1);
    const texts = { big: bytes(5000).toString(), single: bytes(1500).toString(), small: 's' };
    expect(textsAt(hub, 'dev')).toEqual(texts);
    expect(hub.repo('dataset', REPO.name)!.branches.get('dev')).toHaveLength(2);
    expect(progress.sent).toBe(6500);
  });
});

it('a lost answer to the commit is an error, and the commit is not made twice', async () => {
  const hub = await startHub();
  hub.faults.add({ pattern: /^POST .*\/commit\//, times: 1, action: { loseAnswer: true } });
  const at = directoryOf({ small: 's' });
  await expect(uploadTo(hub, [at])).rejects.toThrow(/Another commit was made meanwhile/);
  expect((await uploadTo(hub, [at])).url).toBeNull();
  expect(hub.repo('dataset', REPO.name)!.branches.get('main')).toHaveLength(2);
});

describe('files', () => {
  it('that change after the plan are not committed', async () => {
    for (const [name, content] of Object.entries({ big: bytes(5000), small: 's' })) {
      const hub = await startHub({ large: 1000 });
      const at = directoryOf({ [name]: content, other: 'o' });
      const between = () => appendFileSync(join(at, name), 'more');
      await expect(uploadTo(hub, [at], { between })).rejects.toThrow(
        /Expected files not to change while they are uploaded.*Nothing was committed/,
      );
      expect(countOf(hub, COMMIT)).toBe(0);
    }
  });

  it('that contain the token are refused', async () => {
    const hub = await startHub();
    const at = directoryOf({ 'notes.txt': `my token is ${hub.environment.HF_TOKEN}.`, x: 'x' });
    const refused = uploadTo(hub, [at]);
    await expect(refused).rejects.toThrow(/Expected files without the token, but ".*notes\.txt" contains it/);
    await expect(refused).rejects.not.toThrow(hub.environment.HF_TOKEN);
    expect(hub.repos.size).toBe(0);
  });

  it('whose target is a directory of the repository are refused', async () => {
    const hub = await startHub();
    await uploadTo(hub, [directoryOf({ 'a/b': 'b' })]);
    await expect(uploadTo(hub, [directoryOf({ a: 'a' })])).rejects.toThrow(
      /Expected "a" of .* to be a file, got a directory/,
    );
  });

  it('may be empty or have equal contents', async () => {
    const hub = await startHub({ large: 1000, part: 2000 });
    const [big, none] = [bytes(5000).toString(), ''];
    const files = { 'a.bin': big, 'b.bin': big, 'none.bin': none, 'none.txt': none };
    const at = directoryOf(files);
    await uploadTo(hub, [at]);
    expect(textsAt(hub)).toEqual(files);
    expect((await uploadTo(hub, [at])).url).toBeNull();
  });

  it('are all uploaded, even if there are 250', async () => {
    const hub = await startHub({ large: 230 });
    const names = Array.from({ length: 250 }, (_, k) => `d${k % 3}/f${k}`);
    const at = directoryOf(Object.fromEntries(names.map((name, k) => [name, bytes(k, name)])));
    await uploadTo(hub, [at]);
    expect(Object.keys(textsAt(hub)).sort()).toEqual([...names].sort());
    // The sizes are 0 to 249 bytes, and files from 230 bytes on are large.
    expect(countOf(hub, PUT)).toBe(20);
    const { plan } = await uploadTo(hub, [at]);
    expect(new Set(Object.values(changesOf(plan.planned)))).toEqual(new Set(['same']));
  });
});

it('a plan changes nothing at the Hub', async () => {
  const hub = await startHub();
  const stopAfterPlan = () => {
    throw new Error('planned');
  };
  await expect(uploadTo(hub, [directoryOf({ x: 'x' })], { between: stopAfterPlan })).rejects.toThrow(
    'planned',
  );
  await uploadTo(hub, [directoryOf({ x: 'x' })]);
  const before = commitAt(hub.repo('dataset', REPO.name)!, 'main');
  hub.requests.length = 0;
  await expect(
    uploadTo(hub, [directoryOf({ x: 'y' })], { between: stopAfterPlan, token: null }),
  ).rejects.toThrow('planned');
  expect(hub.requests.map(({ what }) => what.replace(/[0-9a-f]{40}|\?.*/g, ''))).toEqual([
    'GET /api/datasets/newcomer/episodes/revision/main',
    'POST /api/datasets/newcomer/episodes/paths-info/',
  ]);
  expect(hub.requests.map(({ authorization }) => authorization)).toEqual([null, null]);
  expect(commitAt(hub.repo('dataset', REPO.name)!, 'main')).toBe(before);
});
