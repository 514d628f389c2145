/** Measures a server under the load of many trainers: clients that each send requests to score rows, one after the other. */
import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../clock.js';
import { Mismatch } from '../verify.js';

/** The body of a request to /v1/score, and the bytes of the answer. */
export interface Load {
  readonly body: Buffer;
  readonly contentType: string;
  readonly answer: Buffer;
  /** The number of rows in a request. */
  readonly rows: number;
}

export interface LoadPlan {
  readonly clients: number;
  /** The number of requests that each client sends, one after the other. */
  readonly requests: number;
}

export interface LoadFigures {
  readonly clients: number;
  readonly rowsPerSecond: number;
  /** Rows per second of processor time of the server's processes; null where the system does not report this time. */
  readonly rowsPerCpuSecond: number | null;
  /** Milliseconds from a request's first attempt to the end of its successful answer: median and 99 % quantile. */
  readonly p50: number;
  readonly p99: number;
  /** Requests without a successful answer in ATTEMPTS attempts. */
  readonly failed: number;
  /** Answers with a status other than 200, such as 503. */
  readonly unsuccessful: number;
}

/**
 * As in the Python client: the maximum number of attempts of a request, and the first wait in milliseconds. Each later wait
 * is twice as long. Every wait is shortened at random by up to a half.
 */
const ATTEMPTS = 6;
const FIRST_WAIT_MS = 500;

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Posts a body to /v1/score.
 * @param agent determines whether the connection stays open. @param id the client's name in the server's queue (X-Client-Id).
 */
export function post(
  url: string,
  body: Buffer,
  contentType: string,
  agent: Agent,
  id: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': contentType, 'content-length': body.length, 'x-client-id': id };
    const sent = request(
      `${url}/v1/score`,
      { method: 'POST', agent, headers },
      (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode!, body: Buffer.concat(chunks) }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Returns the processor time that processes have used, in seconds; null if it cannot be read. */
function cpuOf(pids: readonly number[]): number | null {
  try {
    return pids.reduce((sum, pid) => {
      // Field k of proc(5) is fields[k - 3]. Fields 14 and 15: time in user mode and in the kernel, in hundredths of a second.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
      return sum + (Number(fields[11]) + Number(fields[12])) / 100;
    }, 0);
  } catch {
    return null;
  }
}

/**
 * Sends the load from all clients at once. @param pids returns the ids of the server's processes.
 * @throws Mismatch if a successful answer has other bytes than `answer`.
 */
export async function measureLoad(
  url: string,
  { body, contentType, answer, rows }: Load,
  { clients, requests }: LoadPlan,
  pids: () => readonly number[],
): Promise<LoadFigures> {
  const latencies: number[] = [];
  let [failed, unsuccessful] = [0, 0];
  const sendRequest = async (agent: Agent, id: string): Promise<void> => {
    const start = now();
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const got = await post(url, body, contentType, agent, id);
      if (got.status === 200) {
        if (!got.body.equals(answer))
          throw new Mismatch('/v1/score: Expected the bytes of the first answer, got other bytes.');
        latencies.push(now() - start);
        return;
      }
      unsuccessful++;
      const wait = FIRST_WAIT_MS * 2 ** (attempt - 1);
      if (attempt < ATTEMPTS) await sleep(wait * (1 - Math.random() / 2));
    }
    failed++;
  };
  const [cpuBefore, start] = [cpuOf(pids()), now()];
  await Promise.all(
    Array.from({ length: clients }, async (_, k) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let round = 0; round < requests; round++) await sendRequest(agent, `client ${k}`);
      agent.destroy();
    }),
  );
  const seconds = (now() - start) / 1e9;
  const cpuAfter = cpuOf(pids());
  const scored = latencies.length * rows;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] / 1e6;
  return {
    clients,
    rowsPerSecond: scored / seconds,
    failed,
    unsuccessful,
    rowsPerCpuSecond: cpuAfter === null || cpuBefore === null ? null : scored / (cpuAfter - cpuBefore),
    p50: at(0.5),
    p99: at(0.99),
  };
}
