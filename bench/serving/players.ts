/** Clients that play sessions. Each sends a message, waits for its answer, and sends the next. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { ACTION_NAMES, Episode } from '../../dist/index.js';
import { NUM_STEPS } from '../../dist/world/fields.js';
import { now } from '../clock.js';
import { Mismatch } from '../verify.js';

const MESSAGES = ACTION_NAMES.map((name) => JSON.stringify({ type: 'step', data: { action_type: name } }));
/** The expected beginning of an answer. Parsing every answer would measure this process, not the server. */
const EXPECTED = Buffer.from('{"type":"observation"');

/** Returns the action of a player at a step, the same in every run. Any ten consecutive steps play all ten actions. */
const actionAt = (seed: number, step: number): number => (seed + 7 * step) % ACTION_NAMES.length;

/** A client that plays a session, on a socket of its own. */
export class Player {
  readonly #socket: WebSocket;
  readonly #seed: number;
  #onAnswer: (answer: Buffer) => void = () => {};

  private constructor(socket: WebSocket, seed: number) {
    this.#socket = socket;
    this.#seed = seed;
    socket.on('message', (answer: Buffer) => this.#onAnswer(answer));
  }

  static async connect(url: string, seed: number): Promise<Player> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { perMessageDeflate: false });
    await once(socket, 'open');
    return new Player(socket, seed);
  }

  /** Plays an episode. @param onStep called for each step with its answer, time in nanoseconds and index. */
  async playEpisode(onStep: (answer: Buffer, ns: number, step: number) => void): Promise<void> {
    await this.#request(JSON.stringify({ type: 'reset', data: { seed: this.#seed } }));
    for (let step = 0; step < NUM_STEPS; step++) {
      const start = now();
      const answer = await this.#request(MESSAGES[actionAt(this.#seed, step)]);
      onStep(answer, now() - start, step);
    }
  }

  /** Plays an episode and compares it with the reference. @throws Mismatch if an answer is no observation, or a bit differs. */
  async verify(): Promise<void> {
    const episode = new Episode().reset(this.#seed);
    await this.playEpisode((answer, _, step) => {
      const { data } = JSON.parse(answer.toString());
      const reward = episode.step(actionAt(this.#seed, step));
      const { meters, deltas, anomalies } = data.observation;
      const expected = [reward, ...episode.meters, ...episode.deltas, ...episode.anomalies];
      const got = [data.reward, ...meters, ...deltas, ...anomalies].map(Math.fround);
      const score = data.observation.final_score;
      const sameScore = data.done ? Math.fround(score) === episode.finalScore : score === null;
      if (sameScore && data.done === episode.terminated && expected.every((value, k) => value === got[k]))
        return;
      throw new Mismatch(
        `seed ${this.#seed}, step ${step}: Expected the observation of the reference, got other bits.`,
      );
    });
  }

  close(): void {
    this.#socket.terminate();
  }

  async #request(message: string): Promise<Buffer> {
    const answer = await new Promise<Buffer>((resolve) => {
      this.#onAnswer = resolve;
      this.#socket.send(message);
    });
    if (EXPECTED.compare(answer, 0, EXPECTED.length) === 0) return answer;
    throw new Mismatch(`Expected an observation, got ${answer.toString().slice(0, 200)}.`);
  }
}

/** The results of a measurement. */
export interface PlayerFigures {
  /** Steps of all players per second. */
  readonly stepsPerSecond: number;
  /** Milliseconds from a step's message to its answer: median and 99 % quantile. */
  readonly p50: number;
  readonly p99: number;
}

/**
 * Connects players, verifies one episode of each, then times `episodes` episodes of each. @throws Mismatch if an answer is no
 * observation, or differs from the reference.
 */
export async function measurePlayers(url: string, count: number, episodes: number): Promise<PlayerFigures> {
  const players: Player[] = [];
  try {
    // Connects one after the other, because connecting is not measured. The seeds are arbitrary.
    for (let k = 0; k < count; k++) players.push(await Player.connect(url, 1000 + k));
    await Promise.all(players.map((player) => player.verify()));
    return await time(players, episodes);
  } finally {
    for (const player of players) player.close();
  }
}

async function time(players: readonly Player[], episodes: number): Promise<PlayerFigures> {
  const latencies = new Float64Array(players.length * episodes * NUM_STEPS);
  let steps = 0;
  const start = now();
  await Promise.all(
    players.map(async (player) => {
      for (let k = 0; k < episodes; k++) {
        await player.playEpisode((_, ns) => {
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
