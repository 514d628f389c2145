/** Tests the connection of one socket. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { yieldTurn } from '../../src/engine/vec-env/yield-turn.js';
import { Connection } from '../../src/server/sockets/connection.js';
import type { Answer } from '../../src/server/sockets/message-handler.js';

const MIB = 2 ** 20;

/** Opens a socket and returns both ends. @param answer returns the answer to a frame. @param end called when it closes. */
async function pair(answer: () => Answer | Promise<Answer>, end = () => {}) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const opened = once(client, 'open');
  const [socket] = (await once(server, 'connection')) as [WebSocket];
  await opened;
  onTestFinished(() => {
    client.terminate();
    server.close();
  });
  const onFailure = (error: unknown): never => {
    throw error;
  };
  const connection = new Connection(socket, { answer, end }, onFailure);
  /** Settles when the connection has received the frame. */
  const send = async (frame: string): Promise<void> => {
    const received = once(socket, 'message');
    client.send(frame);
    await received;
  };
  return { client, socket, connection, send };
}

/** Returns an answer and the function that settles it. */
function pendingAnswer(): { answer: Promise<Answer>; settle: (answer: Answer) => void } {
  let settle = (_: Answer): void => {};
  const answer = new Promise<Answer>((resolve) => {
    settle = resolve;
  });
  return { answer, settle };
}

it('marks its client as alive with every frame', async () => {
  const { connection, send } = await pair(() => ({ frame: null }));
  for (let k = 0; k < 3; k++) {
    const before = connection.receivedAt;
    connection.alive = false;
    await send('x');
    expect(connection.receivedAt).toBeGreaterThan(before);
    expect(connection.alive).toBe(true);
  }
});

it.each([
  ['16 frames', Array<string>(16).fill('x')],
  ['frames of one MiB in all', ['x'.repeat(MIB - 1), 'x']],
])('pauses reading while %s wait', async (_, frames) => {
  const { answer: first, settle: settleFirst } = pendingAnswer();
  let answerCount = 0;
  const { client, socket, send } = await pair(() => (answerCount++ === 0 ? first : { frame: 'done' }));
  let received = 0;
  const all = new Promise<void>((resolve) => {
    client.on('message', () => ++received === frames.length + 1 && resolve());
  });
  await send('the first frame, which does not wait');
  for (const frame of frames) {
    expect(socket.isPaused).toBe(false);
    await send(frame);
  }
  expect([socket.isPaused, answerCount]).toEqual([true, 1]);
  settleFirst({ frame: 'done' });
  await all;
  expect([socket.isPaused, answerCount]).toEqual([false, frames.length + 1]);
});

it('answers the message in progress before it closes', async () => {
  const { answer, settle } = pendingAnswer();
  const { client, connection, send } = await pair(() => answer);
  await send('x');
  connection.finish('the server is shutting down');
  const [message, closed] = [once(client, 'message'), once(client, 'close')];
  settle({ frame: 'done' });
  expect(String((await message)[0])).toBe('done');
  const [code, reason] = await closed;
  expect([code, String(reason)]).toEqual([1001, 'the server is shutting down']);
});

it('resumes reading when it closes a paused socket', async () => {
  const { answer, settle } = pendingAnswer();
  const { client, socket, send } = await pair(() => answer);
  await send('close');
  for (let k = 0; k < 16; k++) await send('x');
  expect(socket.isPaused).toBe(true);
  const closed = once(client, 'close');
  settle({ frame: null, ends: true });
  expect((await closed)[0]).toBe(1000);
  expect(socket.isPaused).toBe(false);
});

it.each([
  ['the server', (connection: Connection) => connection.finish('the server is shutting down')],
  ['the client', (_: Connection, client: WebSocket) => client.close()],
])('ends its handler once when %s closes', async (_, close) => {
  let ends = 0;
  const { client, socket, connection } = await pair(
    () => ({ frame: null }),
    () => ends++,
  );
  const closed = once(socket, 'close');
  close(connection, client);
  await closed;
  expect(ends).toBe(1);
});

it('answers no waiting frames after its client is gone', async () => {
  const { answer, settle } = pendingAnswer();
  let answerCount = 0;
  const { client, socket, send } = await pair(() => {
    answerCount++;
    return answer;
  });
  for (let k = 0; k < 3; k++) await send('x');
  const closed = once(socket, 'close');
  client.terminate();
  await closed;
  settle({ frame: null });
  await yieldTurn();
  expect(answerCount).toBe(1);
});
