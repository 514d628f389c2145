/** Tests which connections and jobs a queue accepts, and its errors. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { connect, type QueueAddress } from '../../../src/server/queue/connection.js';
import { checkRelease, registerJob } from '../../../src/server/queue/jobs.js';
import { runCli, temporaryDirectory } from '../../support/cli.js';
import { runQueue, submit, workHere } from '../../support/queue.js';
import { describeWithRedis, freePort, RedisServer, until } from '../../support/redis.js';

const RELEASE = { version: '1.0.0', world: 'ab'.repeat(32) };
const JOB = { name: 'teach-1', options: '{}', settings: '{}', command: 'teach' };
const RECORD = { ...JOB, ...RELEASE, shards: 1, rows: 8, priority: 1 };
const addressAt = (url: string, more: Partial<QueueAddress> = {}): QueueAddress => ({
  url,
  prefix: 'p',
  ...more,
});

async function refusalOf(address: QueueAddress): Promise<string> {
  const redis = await connect(address).catch((error: Error) => error);
  if (redis instanceof Error) return redis.message;
  redis.disconnect();
  throw new Error('Expected a refusal, got a connection.');
}

const pathOf = temporaryDirectory();

/** Makes a self-signed certificate. @returns the paths of the key and the certificate. */
function certificate(name: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [pathOf(`${name}.key`), pathOf(`${name}.pem`)];
  const form = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...form, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { key, cert };
}

it.each([
  ['redis://127.0.0.1:1', /at 127\.0\.0\.1:1, got: connect ECONNREFUSED 127\.0\.0\.1:1\. Start redis-server/],
  ['http://:secret@127.0.0.1:1', /as redis:\/\/host:port, got "http:.*Pass --redis/],
  ['redis://:se/cret@127.0.0.1:1', /got \/ before the @\. Write \/ as %2F, or pass .* in REDIS_PASSWORD/],
  ['redis://me:12/se#cret@127.0.0.1:1/0', /Write \/ as %2F/],
  ['rediss://:se#cret@127.0.0.1:1', /Write # as %23/],
  ['redis://:se?cret@127.0.0.1:1', /Write \? as %3F/],
  ['redis://:se%cret@127.0.0.1:1', /Write % as %25/],
])('a queue refuses the address %s without repeating its password', async (url, message) => {
  const refusal = await refusalOf(addressAt(url));
  expect(refusal).toMatch(message);
  expect(refusal).not.toMatch(/secret|cret@/);
});

describeWithRedis('a queue', queueTests, '--requirepass', 'secret');

function queueTests(server: RedisServer): void {
  it('refuses a wrong or missing password, and accepts the right password in the URL or as an option', async () => {
    const withPassword = server.url.replace('//', '//:wrong-one@');
    for (const address of [addressAt(withPassword), addressAt(server.url)]) {
      const message = await refusalOf(address);
      expect(message).toMatch(
        /^Expected Redis at 127\.0\.0\.1:\d+ to accept the password, got: (WRONGPASS|NOAUTH).* in REDIS_URL/,
      );
      expect(message).not.toContain('wrong-one');
    }
    (await connect(addressAt(server.url, { password: 'secret' }))).disconnect();
    (await connect(addressAt(withPassword.replace('wrong-one', 'secret')))).disconnect();
  });

  it('uses the password of the options for the user that the URL names', async () => {
    const client = await connect(addressAt(server.url, { password: 'secret' }));
    await client.acl('SETUSER', 'me', 'on', '>p@ss:w%41rd/', '~*', '+@all');
    client.disconnect();
    const url = server.url.replace('//', '//me@');
    const redis = await connect(addressAt(url, { password: 'p@ss:w%41rd/' }));
    expect(await redis.call('ACL', 'WHOAMI')).toBe('me');
    redis.disconnect();
  });

  it.each([
    ['maxmemory-policy', 'allkeys-lru', 'noeviction'],
    ['appendonly', 'no', 'yes'],
  ])('refuses the setting %s %s, unless an option allows the loss of data', async (name, value, before) => {
    const client = await connect(addressAt(server.url, { password: 'secret' }));
    await client.config('SET', name, value);
    try {
      const address = addressAt(server.url, { password: 'secret' });
      expect(await refusalOf(address)).toMatch(
        /^Expected .* Run "redis-cli config set .*", or pass --allow-data-loss\.$/,
      );
      (await connect({ ...address, allowDataLoss: true })).disconnect();
    } finally {
      await client.config('SET', name, before);
      client.disconnect();
    }
  });

  it('over TLS accepts the authority of --redis-ca, and refuses an unknown authority', async () => {
    const [own, other] = [certificate('own'), certificate('other')];
    const port = await freePort();
    const files = ['--tls-cert-file', own.cert, '--tls-key-file', own.key, '--tls-auth-clients', 'no'];
    const tls = await RedisServer.start('--tls-port', String(port), ...files);
    onTestFinished(() => tls.close());
    const url = `rediss://127.0.0.1:${port}`;
    const statusWith = (...args: string[]) => runCli(['queue', 'status', '--redis', url, ...args]);
    expect(await statusWith('--redis-ca', own.cert)).toMatchObject({ code: 0, stdout: 'No jobs.\n' });
    for (const args of [['--redis-ca', other.cert], []]) {
      const { code, stderr } = await statusWith(...args);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/certificate of Redis at .* in --redis-ca\.\n$/),
      ]);
    }
  });

  it('names the keys and commands that a user lacks', async () => {
    const client = await connect(addressAt(server.url, { password: 'secret' }));
    const permissions: [rules: string[], lacks: RegExp][] = [
      [['~other:*', '+@all'], /NOPERM.*key/],
      [['~p:*', '+@all', '-@dangerous'], /NOPERM.*'info'/],
      [['~p:*', '+@all', '-eval'], /NOPERM.*'eval'/],
    ];
    for (const [rules, lacks] of permissions) {
      await client.acl('SETUSER', 'small', 'reset', 'on', '>small', ...rules);
      const message = await refusalOf(addressAt(server.url.replace('//', '//small:small@')));
      expect(message).toMatch(
        /^Expected Redis at 127\.0\.0\.1:\d+ to permit what the queue "p" needs, got: /,
      );
      expect(message).toMatch(lacks);
      expect(message).toContain('redis-cli ACL SETUSER NAME "~p:*" +@all -@admin -@dangerous +info');
    }
    // A command that only later work needs.
    await client.acl('SETUSER', 'small', 'reset', 'on', '>small', '~p:*', '+@all', '-zrange');
    const url = server.url.replace('//', '//small:small@');
    expect(await runCli(['queue', 'status', '--redis', url, '--prefix', 'p'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: Expected Redis at .* to permit .* got: NOPERM .*'zrange'/),
    });
    client.disconnect();
  });

  it('a cluster needs a hash tag in the prefix, and the node with its keys', async () => {
    const nodes = await Promise.all([1, 2].map(() => RedisServer.start('--cluster-enabled', 'yes')));
    const clients = nodes.map((node) => node.client());
    onTestFinished(async () => {
      for (const client of clients) client.disconnect();
      await Promise.all(nodes.map((node) => node.close()));
    });
    await clients[0].cluster('ADDSLOTSRANGE', 0, 8191);
    await clients[1].cluster('ADDSLOTSRANGE', 8192, 16383);
    await clients[1].cluster('SET-CONFIG-EPOCH', 2);
    await clients[0].cluster('MEET', '127.0.0.1', nodes[1].port);
    for (const client of clients)
      await until(async () => /cluster_state:ok.*cluster_known_nodes:2/s.test(await client.cluster('INFO')));
    const refusal = await runCli(['queue', 'status', '--redis', nodes[0].url]);
    expect(refusal.stderr).toMatch(
      /^error: Expected a prefix with a hash tag for the Redis Cluster at .*, got "rhythm-vec". Pass --prefix "\{rhythm-vec\}"/,
    );
    const other = (await clients[0].cluster('KEYSLOT', '{rhythm}')) < 8192 ? 1 : 0;
    const moved = await runCli(['queue', 'status', '--redis', nodes[other].url, '--prefix', '{rhythm}']);
    expect(moved.stderr).toMatch(
      new RegExp(
        `^error: Expected .* node .* the queue "{rhythm}", got .*127.0.0.1:${nodes[1 - other].port}\\.`,
      ),
    );
    // The user of the job has no more than what the error above names.
    const [server, admin] = [nodes[1 - other], clients[1 - other]];
    const rules = ['~{rhythm}:*', '+@all', '-@admin', '-@dangerous', '+info'];
    await admin.acl('SETUSER', 'default', 'resetkeys', ...rules);
    const queue = ['--prefix', '{rhythm}'];
    const args = ['teach', '--policy', 'heuristic+inference', '--profiles', 'sampled', '--seeds', '100-115'];
    const name = await submit(server, ...args, '--shard-size', '8', ...queue);
    const worker = workHere(server, { prefix: '{rhythm}', untilEmpty: true });
    expect(await worker.finished).toBe(2);
    expect(await runQueue(server, 'status', name, ...queue)).toContain('2/2');
    const lines = await runQueue(server, 'collect', name, '--output', '-', ...queue);
    expect(lines.trimEnd().split('\n')).toHaveLength(16);
    expect(worker.notes).toEqual([]);
  });

  it('refuses a version of Redis that is too old', async () => {
    // Changes the version in the answers of a real server.
    const proxy = createServer((socket) => {
      const old = new Transform({
        transform: (chunk: Buffer, _, done) =>
          done(null, chunk.toString('latin1').replace(/redis_version:\d+/, 'redis_version:6')),
      });
      socket.pipe(connectTo(server.port, '127.0.0.1')).pipe(old).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = `redis://:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    expect(await refusalOf(addressAt(url))).toMatch(
      /^Expected Redis 6\.2 or later at .*, got 6\.0\.\d+\. Install a newer Redis, or Valkey\.$/,
    );
    proxy.close();
  });

  it('refuses jobs of another version or world than its open jobs', async () => {
    const redis = await connect(addressAt(server.url, { password: 'secret' }));
    const queue = { redis, prefix: 'p' };
    await registerJob(queue, RECORD);
    for (const change of [{ version: '1.0.1' }, { world: 'cd'.repeat(32) }]) {
      const other = { ...RELEASE, ...change };
      const refusal =
        /^Expected the queue "p" to have jobs of this program .*, got teach-1 of version 1\.0\.0, world abab.* --prefix/;
      await expect(checkRelease(queue, other)).rejects.toThrow(refusal);
      await expect(registerJob(queue, { ...RECORD, ...other })).rejects.toThrow(refusal);
    }
    await redis.del('p:open');
    await checkRelease(queue, { ...RELEASE, version: '1.0.1' });
    redis.disconnect();
  });
}
