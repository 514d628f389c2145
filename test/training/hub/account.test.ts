/** Settings of an upload: token, endpoint, names of repositories and branches; and redaction of secrets. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountOf, checkBranch, checkRepo, repoUrl } from '../../../src/training/hub/account.js';
import { HubError, redacted, withoutSecrets, withSafeErrors } from '../../../src/training/hub/hub-errors.js';
import { temporaryDirectory } from '../../support/cli.js';

const pathOf = temporaryDirectory();
const nowhere = { HF_HOME: pathOf('nothing') };

/** Creates a folder with a token file. @returns the path of the folder. */
function homeWith(name: string, token: string): string {
  mkdirSync(pathOf(name));
  writeFileSync(join(pathOf(name), 'token'), token);
  return pathOf(name);
}

describe('the token', () => {
  it('comes from HF_TOKEN, HUGGING_FACE_HUB_TOKEN or the token file, in this order', () => {
    const HF_HOME = homeWith('home', 'hf_stored\n');
    expect(accountOf({ HF_TOKEN: ' hf_one ', HUGGING_FACE_HUB_TOKEN: 'hf_two', HF_HOME }).token).toBe(
      'hf_one',
    );
    expect(accountOf({ HF_TOKEN: '', HUGGING_FACE_HUB_TOKEN: 'hf_two', HF_HOME }).token).toBe('hf_two');
    expect(accountOf({ HF_HOME }).token).toBe('hf_stored');
    expect(accountOf({ HF_TOKEN_PATH: join(HF_HOME, 'token'), HF_HOME: '/nowhere' }).token).toBe('hf_stored');
    expect(accountOf(nowhere)).toEqual({ endpoint: 'https://huggingface.co', token: null });
    expect(accountOf({ HF_HOME: join(HF_HOME, 'token') }).token).toBeNull();
    mkdirSync(pathOf('cache'));
    homeWith('cache/huggingface', 'hf_cached');
    expect(accountOf({ XDG_CACHE_HOME: pathOf('cache') }).token).toBe('hf_cached');
  });

  it.each(['secret-password', 'hf_with space', 'hf_\u0000', 'hf_'])(
    '%j is refused, and not quoted',
    (HF_TOKEN) => {
      const refused = (): unknown => accountOf({ ...nowhere, HF_TOKEN });
      expect(refused).toThrow(/Expected the token of HF_TOKEN to be hf_ followed by letters, digits/);
      expect(refused).not.toThrow(/secret-password|with space/);
    },
  );
});

describe('the endpoint', () => {
  it.each([
    ['https://hub.example/', 'https://hub.example'],
    ['https://hub.example/mirror//', 'https://hub.example/mirror'],
    ['http://127.0.0.1:80/', 'http://127.0.0.1'],
    ['http://localhost:1234', 'http://localhost:1234'],
    ['http://[::1]:1234', 'http://[::1]:1234'],
    ['', 'https://huggingface.co'],
  ])('%j is accepted', (HF_ENDPOINT, endpoint) => {
    expect(accountOf({ ...nowhere, HF_ENDPOINT }).endpoint).toBe(endpoint);
  });

  it.each([
    'http://hub.example',
    'hub.example',
    'ftp://hub.example',
    'https://me:hunter2@hub.example',
    'https://hunter2@hub.example',
    'https://:hunter2@hub.example',
    'https://hub.example/?key=hunter2',
    'file:///etc',
  ])('%s is refused', (HF_ENDPOINT) => {
    expect(() => accountOf({ ...nowhere, HF_ENDPOINT })).toThrow(/Expected HF_ENDPOINT to be an https URL/);
    expect(() => accountOf({ ...nowhere, HF_ENDPOINT })).not.toThrow(/hunter2/);
  });
});

describe('names of repositories and branches', () => {
  const refusesRepo = (name: string) => refusalMessage(() => checkRepo('model', name));
  const refusesBranch = (name: string) => refusalMessage(() => checkBranch(name));
  const refusalMessage = (call: () => unknown): string | null => {
    try {
      call();
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('are those that the Hub accepts', () => {
    const longest = `${'a'.repeat(96)}/${'b'.repeat(96)}`;
    const repos = ['a/b', 'newcomer/rhythm-sft', 'A.b-c_d/x.y', '_a/_b_', 'a_/__', longest];
    expect(repos.map(refusesRepo)).toEqual(repos.map(() => null));
    const branches = ['main', 'v1.0', 'refs/pr/1', 'a/b-c_d'];
    expect(branches.map(refusesBranch)).toEqual(branches.map(() => null));
    expect(checkRepo('dataset', 'a/b')).toEqual({ type: 'dataset', name: 'a/b' });
    expect(repoUrl('https://hub', { type: 'dataset', name: 'a/b' })).toBe('https://hub/datasets/a/b');
    expect(repoUrl('https://hub', { type: 'model', name: 'a/b' })).toBe('https://hub/a/b');
  });

  it.each([
    ...['a', '', '/', 'a/', '/b', 'a/b/c', 'a/b--c', 'a/..', 'a/b.git', 'a/-b', 'a/b-', 'a/.b', 'a/b.'],
    ...['a b/c', 'a/b\n', 'a/é', `a/${'b'.repeat(97)}`, `${'a'.repeat(97)}/b`],
  ])('%j is not a repository', (name) => {
    expect(refusesRepo(name)).toMatch(/^Expected --repo to be USER\/NAME: .* at most 96 /);
  });

  it.each(['datasets/a/b', 'https://huggingface.co/datasets/a/b', 'models/a/b'])(
    '%s is refused, with the remedy',
    (name) => {
      expect(refusesRepo(name)).toMatch(/Pass only USER\/NAME, and the type as --type/);
    },
  );

  it.each([
    '',
    '-x',
    'a..b',
    'a b',
    'x.lock',
    'a//b',
    'a/',
    '/a',
    'a/.b',
    'ü',
    '0'.repeat(40),
    'x'.repeat(201),
  ])('%j is not a branch', (name) => {
    expect(refusesBranch(name)).toMatch(/^Expected --branch to be the name of a branch/);
  });
});

describe('redaction', () => {
  const token = 'hf_abcDEF123';

  it('replaces the token, in any case, and tokens of others', () => {
    const text = `Bearer ${token} ${token.toUpperCase()} ${token.toLowerCase()} hf_tokenOfOthers`;
    expect(redacted(text, token)).toBe('Bearer hf_*** hf_*** hf_*** hf_***');
  });

  it('removes queries of URLs, replaces control characters, and truncates answers', () => {
    expect(redacted('at https://s3.example/x?X-Amz-Signature=abc.', null)).toBe('at https://s3.example/x');
    expect(redacted('a\u001b[2Jb\u202e', null)).toBe('a\uFFFD[2Jb\uFFFD');
    expect(redacted('x'.repeat(1000), null)).toHaveLength(403);
    expect(withoutSecrets('x'.repeat(1000), null)).toHaveLength(1000);
  });

  it('applies to every error of the work that withSafeErrors runs', async () => {
    const { signal } = new AbortController();
    const hubError = new HubError(`no ${token}`, 412);
    for (const error of [hubError, new Error(`no ${token}`), `no ${token}`]) {
      const work = withSafeErrors(token, signal, () => Promise.reject(error));
      const thrown: HubError = await work.catch((reason) => reason);
      expect(thrown).toBeInstanceOf(HubError);
      expect(`${thrown.message} ${thrown.stack}`).toContain('no hf_***');
      expect(`${thrown.message} ${thrown.stack}`).not.toContain(token);
      // The fields that `util.inspect` prints.
      expect(JSON.stringify(thrown)).not.toContain(token);
      expect(thrown.status).toBe(error === hubError ? 412 : undefined);
    }
  });
});
