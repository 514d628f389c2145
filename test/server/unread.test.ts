/** Tests clients that do not read their answers: buffers are limited, and environments count until their result is sent. */
import { expect, it } from 'vitest';
import { type Client, connect, metric, metricBecomes, startServer } from '../support/server.js';

const MIB = 2 ** 20;
const ENVS = 'rhythm_vec_vec_envs';
/** The number of environments. Their observations are about 23 MB: the system buffers less for a client that does not read. */
const NUM_ENVS = 2 ** 18;

/** Opens a client that requests a large result and does not read it. */
async function unreadResult(server: Awaited<ReturnType<typeof startServer>>): Promise<Client> {
  const client = await connect(server, '/v1/vec');
  await client.request({ type: 'create', data: { num_envs: NUM_ENVS, outputs: ['observations'] } });
  client.socket.pause();
  client.socket.send('{"type":"reset","data":{"seed":1}}');
  return client;
}

it('a vector environment with an unread result stays counted, even after a close message', async () => {
  const server = await startServer();
  const client = await unreadResult(server);
  client.socket.send('{"type":"close"}');
  for (let k = 0; k < 50; k++) expect(await metric(server, ENVS)).toBe(1);
  client.socket.resume();
  expect((await client.closed).code).toBe(1000);
  await metricBecomes(server, ENVS, 0);
});

it('limits a frame to 2 MiB plus 20 bytes for each environment that `vecEnvs` allows', async () => {
  const server = await startServer({ vecEnvs: 1000 });
  const client = await connect(server, '/v1/vec');
  expect((await client.request(Buffer.alloc(2 * MIB + 20_000))).data.code).toBe('VALIDATION_ERROR');
  client.socket.send(Buffer.alloc(2 * MIB + 20_001));
  expect((await client.closed).code).toBe(1009);
});

it('limits a frame to the body limit if that is lower', async () => {
  const server = await startServer({ bodyLimit: 3000 });
  const client = await connect(server, '/v1/vec');
  expect((await client.request(Buffer.alloc(3000))).data.code).toBe('VALIDATION_ERROR');
  await expect(client.request(Buffer.alloc(3001))).rejects.toThrow('closed: 1009');
});

it('stops reading from a client that does not read', async () => {
  const server = await startServer();
  const client = await unreadResult(server);
  const sent = 12;
  for (let k = 0; k < sent; k++) client.socket.send(Buffer.alloc(4 * MIB));
  // Gives the server time to read. The numbers are chosen by hand: half of the 48 MiB must be unsent.
  for (let k = 0; k < 50; k++) await metric(server, ENVS);
  expect(client.socket.bufferedAmount).toBeGreaterThan(24 * MIB);
  client.socket.resume();
  // The observations, about 23 MB.
  expect((await client.next()).length).toBeGreaterThan(16 * MIB);
  for (let k = 0; k < sent; k++) expect((await client.next()).toString()).toContain('VALIDATION_ERROR');
});
