/** Who uploads where: tokens and addresses of the environment, and names that the Hub would refuse. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountOf } from '../../../src/training/hub/account.js';
import { guarded } from '../../../src/training/hub/guard.js';
import { HubError } from '../../../src/training/hub/hub-errors.js';
import { redacted, withoutSecrets } from '../../../src/training/hub/redact.js';
import { checkBranch, checkRepo, repoUrl } from '../../../src/training/hub/repo.js';
import { temporaryDirectory } from '../../support/cli.js';

const place = temporaryDirectory();
const nowhere = { HF_HOME: place('nothing') };

function homeWith(name: string, token: string): string {
  mkdirSync(place(name));
  writeFileSync(join(place(name), 'token'), token);
  return place(name);
}

describe('the token', () => {
  it('is that of the environment, else what a login has left, else none', () => {
    const HF_HOME = homeWith('home', 'hf_stored\n');
    expect(accountOf({ HF_TOKEN: ' hf_one ', HUGGING_FACE_HUB_TOKEN: 'hf_two', HF_HOME }).token).toBe(
      'hf_one',
    );
    expect(accountOf({ HF_TOKEN: '', HUGGING_FACE_HUB_TOKEN: 'hf_two', HF_HOME }).token).toBe('hf_two');
    expect(accountOf({ HF_HOME }).token).toBe('hf_stored');
    expect(accountOf({ HF_TOKEN_PATH: join(HF_HOME, 'token'), HF_HOME: '/nowhere' }).token).toBe('hf_stored');
    expect(accountOf(nowhere)).toEqual({ endpoint: 'https://huggingface.co', token: null });
    expect(accountOf({ HF_HOME: join(HF_HOME, 'token') }).token).toBeNull();
  });

  it('is found where the cache of the desktop is', () => {
    mkdirSync(place('cache'));
    homeWith('cache/huggingface', 'hf_cached');
    expect(accountOf({ XDG_CACHE_HOME: place('cache') }).token).toBe('hf_cached');
  });

  it.each(['secret-password', 'hf_with space', 'hf_\u0000', 'hf_'])(
    '%j is refused without being said',
    (HF_TOKEN) => {
      const refused = (): unknown => accountOf({ ...nowhere, HF_TOKEN });
      expect(refused).toThrow(/Expected the token of HF_TOKEN to be hf_ and letters and digits/);
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
  ])('%j', (HF_ENDPOINT, endpoint) => {
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
  ])('%s is refused: a token would go there', (HF_ENDPOINT) => {
    expect(() => accountOf({ ...nowhere, HF_ENDPOINT })).toThrow(
      /Expected HF_ENDPOINT to be an address with https/,
    );
    expect(() => accountOf({ ...nowhere, HF_ENDPOINT })).not.toThrow(/hunter2/);
  });
});

describe('names', () => {
  it.each(['a/b', 'newcomer/rhythm-sft', 'A.b-c_d/x.y', 'a/_b', `a/${'b'.repeat(94)}`])(
    '%s is one',
    (name) => {
      expect(checkRepo('dataset', name)).toEqual({ type: 'dataset', name });
    },
  );

  it.each([
    'a',
    '',
    '/',
    'a/',
    '/b',
    'a/b/c',
    'a/b--c',
    'a/..',
    'a/b.git',
    'a/-b',
    'a/b.',
    'a b/c',
    'a/b\n',
    'a/é',
    `a/${'b'.repeat(95)}`,
  ])('%j is none', (name) => {
    expect(() => checkRepo('model', name)).toThrow(/Expected --repo to be USER\/NAME/);
  });

  it.each(['datasets/a/b', 'https://huggingface.co/datasets/a/b', 'models/a/b'])(
    'of %s the rest is to be left out',
    (name) => {
      expect(() => checkRepo('dataset', name)).toThrow(
        /Leave out all but USER\/NAME: --type says what it is/,
      );
    },
  );

  it('lead to a page', () => {
    expect(repoUrl('https://hub', { type: 'dataset', name: 'a/b' })).toBe('https://hub/datasets/a/b');
    expect(repoUrl('https://hub', { type: 'model', name: 'a/b' })).toBe('https://hub/a/b');
  });

  it.each(['', '-x', 'a..b', 'a b', 'x.lock', 'a//b', 'a/', '/a', 'a/.b', 'ü', '0'.repeat(40)])(
    '%j is no branch',
    (name) => {
      expect(() => checkBranch(name)).toThrow(/Expected --branch to be a branch's name/);
    },
  );

  it.each(['main', 'v1.0', 'refs/pr/1', 'a/b-c_d'])('%s is a branch', (name) => {
    expect(checkBranch(name)).toBe(name);
  });
});

describe('what others say is shown', () => {
  const token = 'hf_abcDEF123';

  it('without the token, whatever it is spelt like, nor anybody else’s', () => {
    const base64 = Buffer.from(token).toString('base64');
    const hex = Buffer.from(token).toString('hex');
    const text = `Bearer ${token} ${base64} ${hex} hf_somebodyElses`;
    expect(redacted(text, token)).toBe('Bearer hf_*** hf_*** hf_*** hf_***');
  });

  it('without what an address permits, nor what a terminal obeys, and not for ever', () => {
    expect(redacted('at https://s3.example/x?X-Amz-Signature=abc.', null)).toBe('at https://s3.example/x');
    expect(redacted('a\u001b[2Jb\u202e', null)).toBe('a\uFFFD[2Jb\uFFFD');
    expect(redacted('x'.repeat(1000), null)).toHaveLength(403);
    expect(withoutSecrets('x'.repeat(1000), null)).toHaveLength(1000);
  });

  it('by nothing that fails, however it came by the token', async () => {
    const { signal } = new AbortController();
    const foreseen = new HubError(`no ${token}`, { status: 412 });
    for (const error of [foreseen, new Error(`no ${token}`), `no ${token}`]) {
      const work = guarded(token, signal, () => Promise.reject(error));
      const told: HubError = await work.catch((reason) => reason);
      expect(told).toBeInstanceOf(HubError);
      expect(`${told.message} ${told.stack}`).toContain('no hf_***');
      expect(`${told.message} ${told.stack}`).not.toContain(token);
      expect(told.status).toBe(error === foreseen ? 412 : null);
    }
  });
});
