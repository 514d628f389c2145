/** Clients that do not read what they asked for: what waits for them is bounded, and stays counted as theirs. */
import { expect, it } from 'vitest';
import { type Client, connect, metric, metricBecomes, startServer } from './support/server.js';

const MIB = 2 ** 20;
const ENVS = 'rhythm_vec_vec_envs';
/** Whose observations are some 20 MB: more than the system takes for a reader that does not read. */
const SLOTS = 2 ** 18;

/** One that has asked for a large result, and does not read it. */
async function unreadResult(server: Awaited<ReturnType<typeof startServer>>): Promise<Client> {
  const client = await connect(server, '/v1/vec');
  await client.say({ type: 'create', data: { num_envs: SLOTS, outputs: ['observations'] } });
  client.socket.pause();
  client.socket.send('{"type":"reset","data":{"seed":1}}');
  return client;
}

it('an environment whose result is not read keeps its slots, even if it is to be closed', async () => {
  const server = await startServer();
  const client = await unreadResult(server);
  client.socket.send('{"type":"close"}');
  for (let k = 0; k < 50; k++) expect(await metric(server, ENVS)).toBe(1);
  client.socket.resume();
  expect((await client.closed).code).toBe(1000);
  await metricBecomes(server, ENVS, 0);
});

it('a frame is no larger than what so many slots can be told', async () => {
  const server = await startServer({ vecSlots: 1000 });
  const client = await connect(server, '/v1/vec');
  expect((await client.say(Buffer.alloc(2 * MIB + 20_000))).data.code).toBe('VALIDATION_ERROR');
  client.socket.send(Buffer.alloc(2 * MIB + 20_001));
  expect((await client.closed).code).toBe(1009);
});

it('frames of a client that does not read are not read either, however few they are', async () => {
  const server = await startServer();
  const client = await unreadResult(server);
  const sent = 12;
  for (let k = 0; k < sent; k++) client.socket.send(Buffer.alloc(4 * MIB));
  for (let k = 0; k < 50; k++) await metric(server, ENVS);
  expect(client.socket.bufferedAmount).toBeGreaterThan(24 * MIB);
  client.socket.resume();
  expect((await client.next()).length).toBeGreaterThan(16 * MIB);
  for (let k = 0; k < sent; k++) expect((await client.next()).toString()).toContain('VALIDATION_ERROR');
});
