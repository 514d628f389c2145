/** Clients of sessions, as many as wanted in this process: each sends a frame, waits for its answer, and sends the next. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { ACTION_NAMES, Episode } from '../../dist/index.js';
import { NUM_STEPS } from '../../dist/world/fields.js';
import { now } from '../clock.js';
import { Mismatch } from '../verify.js';

const FRAMES = ACTION_NAMES.map((name) => JSON.stringify({ type: 'step', data: { action_type: name } }));
/** Parsing every answer would measure this process. */
const EXPECTED = Buffer.from('{"type":"observation"');

/** What a player does at a step, whoever plays it. */
const actionAt = (seed: number, step: number): number => (seed + 7 * step) % ACTION_NAMES.length;

export class Player {
  readonly #socket: WebSocket;
  readonly #seed: number;
  #answered: (answer: Buffer) => void = () => {};

  private constructor(socket: WebSocket, seed: number) {
    this.#socket = socket;
    this.#seed = seed;
    socket.on('message', (answer: Buffer) => this.#answered(answer));
  }

  static async connect(url: string, seed: number): Promise<Player> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { perMessageDeflate: false });
    await once(socket, 'open');
    return new Player(socket, seed);
  }

  /** Plays a week. @param onStep told of every answer, and how many nanoseconds it took. */
  async week(onStep: (answer: Buffer, ns: number, step: number) => void): Promise<void> {
    await this.#ask(JSON.stringify({ type: 'reset', data: { seed: this.#seed } }));
    for (let step = 0; step < NUM_STEPS; step++) {
      const start = now();
      const answer = await this.#ask(FRAMES[actionAt(this.#seed, step)]);
      onStep(answer, now() - start, step);
    }
  }

  /** Plays a week beside the reference. @throws Mismatch where a bit differs. */
  async verify(): Promise<void> {
    const episode = new Episode().reset(this.#seed);
    await this.week((answer, _, step) => {
      const { data } = JSON.parse(answer.toString());
      const reward = episode.step(actionAt(this.#seed, step));
      const { meters, deltas, anomalies } = data.observation;
      const shown = [reward, ...episode.meters, ...episode.deltas, ...episode.anomalies];
      const told = [data.reward, ...meters, ...deltas, ...anomalies];
      const graded = data.observation.final_score === (data.done ? episode.finalScore : null);
      if (graded && data.done === episode.terminated && shown.every((value, k) => value === told[k])) return;
      throw new Mismatch(
        `seed ${this.#seed}, step ${step}: Expected what the reference shows, got other bits.`,
      );
    });
  }

  close(): void {
    this.#socket.terminate();
  }

  async #ask(frame: string): Promise<Buffer> {
    const answer = await new Promise<Buffer>((resolve) => {
      this.#answered = resolve;
      this.#socket.send(frame);
    });
    if (EXPECTED.compare(answer, 0, EXPECTED.length) === 0) return answer;
    throw new Mismatch(`Expected an observation, got ${answer.toString().slice(0, 200)}.`);
  }
}

export interface Played {
  /** Of all players together. */
  readonly stepsPerSecond: number;
  /** Milliseconds from a frame to its answer. */
  readonly p50: number;
  readonly p99: number;
}

/** Connects players, plays with each beside the reference, then times so many weeks of each. @throws Mismatch. */
export async function measurePlayers(url: string, count: number, weeks: number): Promise<Played> {
  const players: Player[] = [];
  try {
    // One after the other: connecting is not what is measured.
    for (let k = 0; k < count; k++) players.push(await Player.connect(url, 1000 + k));
    await Promise.all(players.map((player) => player.verify()));
    return await time(players, weeks);
  } finally {
    for (const player of players) player.close();
  }
}

async function time(players: readonly Player[], weeks: number): Promise<Played> {
  const latencies = new Float64Array(players.length * weeks * NUM_STEPS);
  let steps = 0;
  const start = now();
  await Promise.all(
    players.map(async (player) => {
      for (let week = 0; week < weeks; week++) {
        await player.week((_, ns) => {
          latencies[steps++] = ns;
        });
      }
    }),
  );
  const seconds = (now() - start) / 1e9;
  latencies.sort();
  const at = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] / 1e6;
  return { stepsPerSecond: steps / seconds, p50: at(0.5), p99: at(0.99) };
}
