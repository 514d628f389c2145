/** Files to upload: targets, files that are left out, refused paths, and inspection of contents. */
import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { inspect } from '../../../src/training/hub/inspect-file.js';
import { collectFiles } from '../../../src/training/hub/local-files.js';
import { gitOid, sha256 } from '../../fakes/hub-store.js';
import { bytes, directoryOf } from '../../support/hub.js';
import { parquetOf } from '../../support/parquet.js';

const targetsOf = async (paths: readonly string[], prefix?: string) =>
  (await collectFiles(paths, prefix)).files.map(({ target }) => target);

describe('targets', () => {
  it('are the names of files, and the relative paths of files in directories', async () => {
    const at = directoryOf({ 'a.txt': 'a', 'd/README.md': 'r', 'd/x/y.txt': 'y', 'd/x/README.md': 'inner' });
    expect(await targetsOf([join(at, 'a.txt'), join(at, 'd')])).toEqual([
      'a.txt',
      'README.md',
      'x/README.md',
      'x/y.txt',
    ]);
    expect(await targetsOf([`${at}/d/`, `${at}/./a.txt`])).toContain('README.md');
  });

  it('are below --path-in-repo, except the target of the card (README.md)', async () => {
    const at = directoryOf({ 'd/README.md': 'r', 'd/x/README.md': 'inner', 'd/y.txt': 'y' });
    for (const prefix of ['data/raw', '/data/raw/', './data/raw']) {
      expect(await targetsOf([join(at, 'd')], prefix)).toEqual([
        'README.md',
        'data/raw/x/README.md',
        'data/raw/y.txt',
      ]);
    }
    expect(await targetsOf([join(at, 'd/README.md')], 'data')).toEqual(['README.md']);
    expect(await targetsOf([join(at, 'd')], '.')).toContain('y.txt');
  });

  it('leave out hidden files, unfinished files and links, unless they are passed by name', async () => {
    const names = ['.env', '.git/config', '.t.7.tmp', 'sub/.cache/y', 'x.tmp', 'x~', 'sub/z', 'sub/uv.lock'];
    const unfinished = ['t.jsonl.lock', 't.jsonl.partial', 't.parquet.lock'];
    const all = [...names, ...unfinished, 't.parquet.partial.footer'];
    const at = directoryOf(Object.fromEntries(all.map((name) => [`d/${name}`, 'x'])));
    symlinkSync('/etc/passwd', join(at, 'd/link'));
    const { files, leftOut } = await collectFiles([join(at, 'd')]);
    expect(files.map(({ target }) => target)).toEqual(['sub/uv.lock', 'sub/z']);
    expect(leftOut.map((text) => text.replace(`${at}/`, ''))).toEqual([
      'd/.env (its name begins with a dot)',
      'd/.git (its name begins with a dot)',
      'd/.t.7.tmp (its name begins with a dot)',
      'd/link (a link)',
      'd/sub/.cache (its name begins with a dot)',
      'd/t.jsonl.lock (unfinished)',
      'd/t.jsonl.partial (unfinished)',
      'd/t.parquet.lock (unfinished)',
      'd/t.parquet.partial.footer (unfinished)',
      'd/x.tmp (unfinished)',
      'd/x~ (unfinished)',
    ]);
    const named = ['.env', 'x.tmp', 'link', 't.jsonl.partial'];
    expect(await targetsOf(named.map((name) => join(at, 'd', name)))).toEqual(named);
  });
});

describe('collectFiles refuses', () => {
  it('missing paths, pipes, directories without files to upload, and an empty list', async () => {
    const at = directoryOf({ 'd/.hidden': 'x', 'a.txt': 'a' });
    execFileSync('mkfifo', [join(at, 'pipe')]);
    const refuses = async (path: string, why: RegExp) => expect(collectFiles([path])).rejects.toThrow(why);
    await refuses(join(at, 'none'), /got ".*none", which does not exist\. Check the path/);
    await refuses(join(at, 'a.txt/b'), /which does not exist/);
    await refuses('', /which does not exist/);
    await refuses(join(at, 'pipe'), /which is neither/);
    await refuses(join(at, 'd'), /all were left out: .*\.hidden \(its name begins with a dot\)/);
    await expect(collectFiles([])).rejects.toThrow(/Expected files to upload, but there are none/);
  });

  it('two files with the same target, and a file whose target is a directory of another file', async () => {
    const at = directoryOf({ 'a/x.txt': '1', 'b/x.txt': '2', 'c/x.txt/y/z': '3' });
    await expect(collectFiles([join(at, 'a'), join(at, 'b')])).rejects.toThrow(/"x.txt"\. .*--path-in-repo/);
    expect(await targetsOf([join(at, 'a/x.txt'), `${at}/a/./x.txt`, join(at, 'a')])).toEqual(['x.txt']);
    await expect(collectFiles([join(at, 'a'), join(at, 'c')])).rejects.toThrow(
      /x\.txt.*x\.txt\/y\/z.* clash at "x\.txt"/,
    );
  });

  it.each(['..', 'a/../b', '.git', 'a//b', 'a\\b', 'a\nb', 'x'.repeat(1001)])(
    '%j as --path-in-repo',
    async (prefix) => {
      const at = directoryOf({ 'a.txt': 'a' });
      await expect(collectFiles([at], prefix)).rejects.toThrow(/Expected --path-in-repo to be a path/);
    },
  );

  it('a target of more than 1000 bytes, but not a target of 1000 bytes', async () => {
    const at = directoryOf({ 'a.txt': 'a' });
    const longest = 'x'.repeat(1000 - '/a.txt'.length);
    expect(await targetsOf([at], longest)).toEqual([`${longest}/a.txt`]);
    for (const prefix of [`${longest}x`, '\u00e9'.repeat(500)]) {
      await expect(collectFiles([at], prefix)).rejects.toThrow(/a\.txt" to be a path of a repository/);
    }
  });

  it('a name with a control character', async () => {
    const at = directoryOf({ 'd/a\u001b[2J': 'a' });
    await expect(collectFiles([join(at, 'd')])).rejects.toThrow(/printable.*Rename it/);
  });
});

describe('contents', () => {
  const reading = { signal: new AbortController().signal };
  const inspected = async (content: string | Uint8Array, token: string | null = null, name = 'x.jsonl') => {
    const [file] = (await collectFiles([directoryOf({ [name]: content })])).files;
    return inspect(file, 'sha256', token, reading);
  };

  it('are hashed as git objects or with SHA-256', async () => {
    const content = bytes(300_000);
    const [file] = (await collectFiles([directoryOf({ x: content })])).files;
    expect((await inspect(file, 'git', null, reading)).oid).toBe(gitOid(content));
    expect((await inspect(file, 'sha256', null, reading)).oid).toBe(sha256(content));
    expect((await inspect(file, null, null, reading)).oid).toBeNull();
  });

  // Files are read in chunks of 65,536 bytes.
  it.each([65_508, 65_520, 65_530, 65_536, 131_070])(
    'with a token at byte %i are refused, even if a chunk ends within the token',
    async (offset) => {
      const token = 'hf_abcdefghijklmnopqrstuvwxyz';
      const text = `${'.'.repeat(offset)}${token}${'.'.repeat(100)}`;
      await expect(inspected(text, token)).rejects.toThrow('Expected files without the token');
      await inspected(text.replace('xyz', 'xy'), token);
    },
  );

  it.each([
    ['{"seed":100,"x":1}\n{"seed":9999}', null],
    ['{"seed":99}', 99],
    ['{"seed": 10000, "x": 1}', 10000],
    ['{"split_seed":5,"text":"\\"seed\\":5,"}', null],
    [`${' '.repeat(65_530)}{"seed":1000}`, null],
    [`${' '.repeat(65_523)}{"seed":10000}`, 10000],
  ])('with evaluation seeds (those outside 100-9999) are recognised, case %#', async (text, seed) => {
    for (const name of ['x.jsonl', 'x.JSONL', 'x.ndjson']) {
      expect((await inspected(text, null, name)).evalSeed).toBe(seed);
      expect((await inspected(gzipSync(text), null, `${name}.gz`)).evalSeed).toBe(seed);
    }
    expect((await inspected(text, null, 'x.md')).evalSeed).toBeNull();
  });

  it.each([
    ['{"hidden":{"profile":[]}}', true],
    ['{"hidden": {"profile": []}}', true],
    ['{"said":"{\\"hidden\\":{}}","hidden":null}', false],
  ])('with hidden profiles are recognised, case %#', async (text, found) => {
    expect((await inspected(text)).holdsHidden).toBe(found);
    expect((await inspected(gzipSync(text), null, 'x.jsonl.gz')).holdsHidden).toBe(found);
  });

  it.each([
    [[[100, 500], [9999]], null],
    [[[100, 99, 500]], 99],
    [[[100], [9999, 10000]], 10000],
  ])('with evaluation seeds are recognised in Parquet, case %#', async (groups, seed) => {
    const rows = groups.map((seeds) => seeds.map((seed) => ({ seed, hidden: [] })));
    const [shown, hidden] = await Promise.all([
      parquetOf<{ seed: number }>(rows, { seed: { type: 'integer' } }),
      parquetOf(rows, { seed: { type: 'integer' }, hidden: { type: 'messages' } }),
    ]);
    for (const name of ['x.parquet', 'x.PARQUET']) {
      expect(await inspected(shown, null, name)).toMatchObject({ evalSeed: seed, holdsHidden: false });
      expect(await inspected(hidden, null, name)).toMatchObject({ evalSeed: seed, holdsHidden: true });
    }
  });

  it.each(['x.parquet', 'x.jsonl.gz'])(
    'of a file that its name does not describe have no rows: %s',
    async (name) => {
      expect(await inspected('no such file', null, name)).toMatchObject({
        evalSeed: null,
        holdsHidden: false,
      });
    },
  );

  it('that changed since they were opened are not read', async () => {
    const at = directoryOf({ x: 'before' });
    const [file] = (await collectFiles([at])).files;
    writeFileSync(join(at, 'x'), 'behind');
    await expect(inspect(file, 'git', null, reading)).rejects.toMatchObject({ name: 'NotReadableError' });
  });
});
