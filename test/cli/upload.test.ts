/** `upload` with a fake Hub: messages, dry runs, interrupted, resumed and refused uploads, and secrets in answers. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { FakeHub } from '../fakes/hub.js';
import { MAIN, runCli, startCli, temporaryDirectory } from '../support/cli.js';
import { bytes, countOf, directoryOf, REPO, startHub, textsAt } from '../support/hub.js';

const pathOf = temporaryDirectory();
/** An environment without the user's settings. */
const BARE = {
  HF_ENDPOINT: '',
  HF_TOKEN: '',
  HUGGING_FACE_HUB_TOKEN: '',
  HF_TOKEN_PATH: '',
  HF_HOME: pathOf('home'),
};
const args = (...rest: string[]) => ['upload', '--repo', REPO.name, ...rest];
const upload = (hub: Pick<FakeHub, 'environment'>, ...rest: string[]) =>
  runCli(args(...rest), '', { ...BARE, ...hub.environment });

describe('messages', () => {
  it('describe the changes of the repository and of each file', async () => {
    const hub = await startHub();
    const directory = directoryOf({ 'README.md': '# Card', 'train.jsonl': '{"seed":100}\n'.repeat(100) });
    const page = `${hub.url}/datasets/${REPO.name}`;
    const files = [
      '  new          6 B  README.md',
      '  new      1.30 kB  train.jsonl',
      'To upload: 2 of 2 files, 1.31 kB.',
    ];
    const dry = await upload({ environment: { ...hub.environment, HF_TOKEN: '' } }, '--dry-run', directory);
    expect(dry).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        `dataset ${REPO.name} (${page}) does not exist or is hidden from this token: it would be created, public, unless its owner's settings say otherwise.`,
        ...files,
        'Nothing was changed: --dry-run.\n',
      ].join('\n'),
    });
    expect(hub.repos.size).toBe(0);
    const first = await upload(hub, '--private', '--message', 'Episodes\n\nof a teacher', directory);
    const { id, title, description } = hub.repo('dataset', REPO.name)!.branches.get('main')!.at(-1)!;
    expect([title, description]).toEqual(['Episodes', 'of a teacher']);
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.stdout).toBe(
      [
        `dataset ${REPO.name} (${page}) does not exist or is hidden from this token: it will be created, private.`,
        ...files,
        `Committed: ${page}/commit/${id}\n`,
      ].join('\n'),
    );
    const second = await upload(hub, '--branch', 'main', directory);
    expect(second.stdout).toContain(`exists, private; its branch main is at ${id.slice(0, 8)}.\n  same `);
    expect(second.stdout).toMatch(
      /To upload: 0 of 2 files, 0 B\.\nNothing to upload: the repository has all files already\.\n$/,
    );
  });

  it('warn of left-out files, hidden profiles, evaluation seeds and moved cards', async () => {
    const hub = await startHub();
    const directory = directoryOf({
      ...{ 'd/README.md': 'r', 'd/.env': 's', 'd/w.jsonl.partial': 'p' },
      'd/w.jsonl': '{"seed":5,"hidden":{"profile":[]}}\n',
    });
    const { code, stdout, stderr } = await upload(
      hub,
      '--path-in-repo',
      'raw',
      '--revision',
      'dev',
      join(directory, 'd'),
    );
    expect(stdout).toContain(
      "from this token: it and its branch dev will be created, public, unless its owner's settings say otherwise.",
    );
    expect([code, stderr.replaceAll(`${directory}/`, '').split('\n')]).toEqual([
      0,
      [
        'note: left out: d/.env (its name begins with a dot), d/w.jsonl.partial (unfinished). Name such a file to upload it.',
        'note: raw/w.jsonl contains hidden profiles: a model trained on them is not a valid agent.',
        'note: raw/w.jsonl contains episodes of evaluation seeds (such as 5): a model trained on them must not be evaluated on these seeds.',
        'note: README.md goes to the root; check that the paths in it match the repository.',
        '',
      ],
    ]);
    expect(Object.keys(textsAt(hub, 'dev')).sort()).toEqual(['README.md', 'raw/w.jsonl']);
    expect(textsAt(hub)).toEqual({});
  });

  it('report waiting, with the reason', async () => {
    const hub = await startHub();
    hub.faults.add({
      pattern: /revision/,
      times: 1,
      action: { answer: 429, headers: { 'retry-after': '0' } },
    });
    const { code, stderr } = await upload(hub, directoryOf({ x: 'x' }));
    expect([code, stderr]).toEqual([
      0,
      `note: GET ${hub.url}/api/datasets/${REPO.name}/revision/main: status 429; retrying in 1 s (attempt 1 of 6).\n`,
    ]);
  });
});

/** Returns the address of a server that has closed. */
async function freeAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

describe('--dry-run lists the files without the Hub', () => {
  const directory = () => directoryOf({ 'README.md': '# Card', 'train.jsonl': '{"seed":5}\n' });

  it.each([
    ['the server is not running', freeAddress, 'ECONNREFUSED'],
    ['the host name is unknown', async () => 'https://hub.invalid', 'ENOTFOUND|EAI_AGAIN'],
  ])('if %s', async (_, open, reason) => {
    const endpoint = await open();
    const { code, stdout, stderr } = await runCli(args('--dry-run', directory()), '', {
      ...BARE,
      HF_ENDPOINT: endpoint,
    });
    expect([code, stdout]).toEqual([
      0,
      [
        `dataset ${REPO.name} (${endpoint}/datasets/${REPO.name}) was not read, so the files are not compared with it.`,
        '  unknown   6 B  README.md',
        '  unknown  11 B  train.jsonl',
        'To upload: at most 2 of 2 files, 17 B.',
        'Nothing was changed: --dry-run.\n',
      ].join('\n'),
    ]);
    const url = `${endpoint}/api/datasets/${REPO.name}/revision/main`;
    expect(stderr).toMatch(
      new RegExp(
        `^note: Expected an answer to GET ${url}, got (${reason})\\. Check the network and HF_ENDPOINT\\..*\nnote: train.jsonl contains episodes of`,
      ),
    );
  });

  it('but fails if the Hub refuses the request', async () => {
    const hub = await startHub();
    hub.faults.add({ pattern: /revision/, action: { answer: 403 } });
    const { code, stderr } = await upload(hub, '--dry-run', directory());
    expect([code, stderr]).toEqual([1, expect.stringContaining('got status 403')]);
  });

  it('and refuses a file that contains the token', async () => {
    const token = 'hf_abcdefghijklmnop';
    const { code, stderr } = await runCli(args('--dry-run', directoryOf({ x: token })), '', {
      ...BARE,
      ...{ HF_ENDPOINT: 'http://127.0.0.1:1', HF_TOKEN: token },
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining('Expected files without the token')]);
  });
});

it('uploads more files than a process may open at once', async () => {
  const hub = await startHub();
  const directory = directoryOf(
    Object.fromEntries(Array.from({ length: 300 }, (_, k) => [`f${k}.txt`, `${k}`])),
  );
  const command = `ulimit -n 128; exec "$0" "$1" upload --repo ${REPO.name} "$2"`;
  const env = { ...process.env, ...BARE, ...hub.environment };
  await promisify(execFile)('bash', ['-c', command, process.execPath, MAIN, directory], { env });
  expect(Object.keys(textsAt(hub))).toHaveLength(300);
});

describe('an interrupted upload', () => {
  const files = Object.fromEntries(Array.from({ length: 8 }, (_, k) => [`f${k}`, bytes(200_000, `f${k}`)]));
  const started = async () => {
    const hub = await startHub({ large: 1000 });
    const directory = directoryOf(files);
    hub.faults.add({ pattern: /^PUT/, after: 3, action: { hangAfter: 100_000 } });
    const hanging = hub.faults.hanging();
    const running = startCli(args(directory), { ...BARE, ...hub.environment });
    await hanging;
    return { hub, directory, running };
  };
  const completedUploads = (hub: FakeHub) =>
    hub.requests
      .filter(({ what, bytes: read }) => what.startsWith('PUT') && read >= 0)
      .map(({ what }) => what);

  it('resumes after SIGKILL, and sends no contents twice', async () => {
    const { hub, directory, running } = await started();
    // Several requests are open at once, so requests before the one that hangs may also be open.
    while (completedUploads(hub).length < 3) await new Promise(setImmediate);
    running.child.kill('SIGKILL');
    expect((await running.finished).code).toBeNull();
    expect([completedUploads(hub).length, countOf(hub, /commit/), textsAt(hub)]).toEqual([3, 0, {}]);
    hub.faults.clear();
    const { code, stdout } = await upload(hub, directory);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Committed: ')]);
    expect([completedUploads(hub).length, new Set(completedUploads(hub)).size]).toEqual([8, 8]);
    expect(Object.keys(textsAt(hub)).sort()).toEqual(Object.keys(files));
    expect(hub.repo('dataset', REPO.name)!.branches.get('main')).toHaveLength(2);
  });

  it('prints after SIGINT that it can be resumed', async () => {
    const { hub, running } = await started();
    running.child.kill('SIGINT');
    const { code, stderr } = await running.finished;
    expect([code, stderr.split('\n')]).toEqual([
      130,
      [
        'note: the Hub keeps what was sent; the same command resumes from there.',
        'error: Interrupted. No output file was changed.',
        '',
      ],
    ]);
    expect(textsAt(hub)).toEqual({});
  });
});

it('upload reports a repository that the Hub refuses to create, without a stack trace, and prints no invalid token', async () => {
  const hub = await startHub({ namespaces: ['somebody'] });
  const { code, stderr } = await upload(hub, directoryOf({ x: 'x' }));
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^error: Expected the Hub to answer POST .*create, got status 403 .*\n$/),
  ]);
  const bad = await runCli(args(directoryOf({ x: 'x' })), '', { ...BARE, HF_TOKEN: 'pass word' });
  expect([bad.code, bad.stderr.includes('pass word')]).toEqual([2, false]);
});

describe('the token appears in no output', () => {
  it.each([
    [
      'in the answer to a commit',
      /commit/,
      (token: string) => `{"commitOid":"1","commitUrl":"http://x/${token}"}`,
      0,
    ],
    ['in an invalid answer', /revision/, (token: string) => token, 1],
    ['in an error', /create/, (token: string) => `{"error":"${token}"}`, 1],
  ])('if the Hub returns it %s', async (_, pattern, body, exit) => {
    const hub = await startHub();
    const { HF_TOKEN } = hub.environment;
    hub.faults.add({ pattern, action: { answer: pattern.test('create') ? 400 : 200, body: body(HF_TOKEN) } });
    const { code, stdout, stderr } = await upload(hub, directoryOf({ x: 'x' }));
    expect(code).toBe(exit);
    expect(stdout + stderr).not.toContain(HF_TOKEN);
    // The token's first characters do not appear either.
    expect(stdout + stderr).not.toContain(HF_TOKEN.slice(0, 8));
  });
});
