/** Clients of a server: sessions that play episodes, and trainers that score rows. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { ACTION_NAMES, Episode } from '../dist/index.js';
import { NUM_STEPS } from '../dist/world/fields.js';
import type { ServerChild } from './child.js';
import type { Body } from './replay-rows.js';
import { now, quantile } from './runner.js';
import { Mismatch } from './verify.js';

/** Returns the median and the 99 % quantile of times, in milliseconds. */
const quantilesOf = (times: readonly number[]) => ({
  p50: quantile(times, 0.5) / 1e6,
  p99: quantile(times, 0.99) / 1e6,
});

const MESSAGES = ACTION_NAMES.map((name) => JSON.stringify({ type: 'step', data: { action_type: name } }));
/** The expected beginning of an answer. Parsing every answer would measure this process, not the server. */
const EXPECTED = Buffer.from('{"type":"observation"');

/** Returns the action of a player at a step, the same in every run. Any ten consecutive steps play all ten actions. */
const actionAt = (seed: number, step: number): number => (seed + 7 * step) % ACTION_NAMES.length;

/** Plays an episode. The next message is sent after the answer. Called for each step: its answer, its time in nanoseconds. */
type PlayEpisode = (onStep: (answer: Buffer, ns: number, step: number) => void) => Promise<void>;

/** Returns a client that plays a session on this socket. */
function playerOn(socket: WebSocket, seed: number): PlayEpisode {
  let onAnswer: (answer: Buffer) => void = () => {};
  socket.on('message', (answer: Buffer) => onAnswer(answer));
  const ask = async (message: string): Promise<Buffer> => {
    const answer = await new Promise<Buffer>((resolve) => {
      onAnswer = resolve;
      socket.send(message);
    });
    if (EXPECTED.compare(answer, 0, EXPECTED.length) === 0) return answer;
    throw new Mismatch(`Expected an observation, got ${answer.toString().slice(0, 200)}.`);
  };
  return async (onStep) => {
    await ask(JSON.stringify({ type: 'reset', data: { seed } }));
    for (let step = 0; step < NUM_STEPS; step++) {
      const start = now();
      const answer = await ask(MESSAGES[actionAt(seed, step)]);
      onStep(answer, now() - start, step);
    }
  };
}

/** Plays an episode and compares it with the reference. @throws Mismatch if a bit differs. */
async function verify(play: PlayEpisode, seed: number): Promise<void> {
  const episode = new Episode().reset(seed);
  await play((answer, _, step) => {
    const { data } = JSON.parse(answer.toString());
    const reward = episode.step(actionAt(seed, step));
    const { meters, deltas, anomalies, final_score: score } = data.observation;
    const expected = [reward, ...episode.meters, ...episode.deltas, ...episode.anomalies];
    const got = [data.reward, ...meters, ...deltas, ...anomalies].map(Math.fround);
    expected.push(episode.terminated ? episode.finalScore : 0, Number(episode.terminated));
    got.push(Math.fround(score ?? 0), Number(data.done));
    if (expected.every((value, k) => value === got[k])) return;
    throw new Mismatch(`seed ${seed}, step ${step}: Expected ${expected} as the reference, got ${got}.`);
  });
}

/**
 * Connects players, verifies one episode of each, then times `episodes` episodes of each: the steps of all players per second,
 * and the time from a step's message to its answer.
 * @throws Mismatch if an answer is no observation, or differs from the reference.
 */
export async function measurePlayers(url: string, count: number, episodes: number) {
  // The seeds are arbitrary.
  const seeds = Array.from({ length: count }, (_, k) => 1000 + k);
  const sockets: WebSocket[] = [];
  try {
    // Connects one after the other, because connecting is not measured.
    for (const _ of seeds) {
      sockets.push(new WebSocket(`${url.replace('http', 'ws')}/ws`, { perMessageDeflate: false }));
      await once(sockets.at(-1)!, 'open');
    }
    const players = sockets.map((socket, k) => playerOn(socket, seeds[k]));
    await Promise.all(players.map((play, k) => verify(play, seeds[k])));
    const times: number[] = [];
    const start = now();
    await Promise.all(
      players.map(async (play) => {
        for (let k = 0; k < episodes; k++) await play((_, ns) => times.push(ns));
      }),
    );
    return { stepsPerSecond: times.length / ((now() - start) / 1e9), ...quantilesOf(times) };
  } finally {
    for (const socket of sockets) socket.terminate();
  }
}

/**
 * Sends requests to /v1/score from many clients at once. Each sends its requests one after the other.
 * @throws Mismatch if a successful answer has other bytes than the first, which is not verified.
 */
export async function measureLoad(server: ServerChild, body: Body, clients: number, requests: number) {
  // The agent keeps the connection open.
  const send = async (id: string, agent?: Agent) => {
    const { length } = body.body;
    const headers = { 'content-type': body.contentType, 'content-length': length, 'x-client-id': id };
    const sent = request(`${server.url}/v1/score`, { method: 'POST', agent, headers }).end(body.body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode!, body: await buffer(response) };
  };
  const first = await send('first');
  const times: number[] = [];
  let failed = 0;
  const sendRequest = async (agent: Agent, id: string): Promise<void> => {
    const start = now();
    const { status, body: answer } = await send(id, agent);
    if (status !== 200) failed++;
    else if (answer.equals(first.body)) times.push(now() - start);
    else throw new Mismatch('/v1/score: Expected the bytes of the first answer, got other bytes.');
  };
  const [before, start] = [await server.cpuMs(), now()];
  await Promise.all(
    Array.from({ length: clients }, async (_, k) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let round = 0; round < requests; round++) await sendRequest(agent, `client ${k}`);
      agent.destroy();
    }),
  );
  const seconds = (now() - start) / 1e9;
  const after = await server.cpuMs();
  const scored = times.length * body.rows;
  return {
    form: body.form,
    clients,
    rowsPerSecond: scored / seconds,
    // Requests with a status other than 200, such as 503.
    failed,
    // Rows per second of processor time of the server.
    rowsPerCpuSecond: scored / ((after - before) / 1000),
    // From a request to the end of its successful answer.
    ...quantilesOf(times),
  };
}
