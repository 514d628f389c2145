/**
 * A fake chat endpoint, for tests and for trying the commands without a key. It serves the paths of OpenAI and of Azure,
 * computes its answers only from the prompt, and can return faults.
 *
 *     npx tsx test/fakes/openai.ts --port 8787 --delay 50 --fault 429,cut-off --every 10
 *
 * Each answer takes `--delay` milliseconds. Every tenth request gets one of the faults, in turn.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Fake, LocalServer, printExports } from './local-server.js';
import { FAULTS, type FakeRequest, type FakeUsage, type Fault, json, type Reply } from './openai-faults.js';

export const FAKE_KEY = 'fake-key-4f1c8a2e';

export interface FakeOptions {
  readonly port?: number;
  /** The time that each answer takes, in milliseconds. */
  readonly delay?: number;
  /** Returns the fault with which to answer a request; null for a correct answer. */
  readonly faultOf?: (request: FakeRequest) => Fault;
  /** Returns the content of an answer. Default: `answerOf`. */
  readonly answer?: (request: FakeRequest) => string;
}

const OPENAI_PATH = '/v1/chat/completions';
const AZURE_PATH = /^\/openai\/deployments\/[^/]+\/chat\/completions$/;

export class FakeOpenAi implements Fake {
  /** All requests, the oldest first. */
  readonly requests: FakeRequest[] = [];
  /** The usage of each answer that a real endpoint would charge for. */
  readonly billed: FakeUsage[] = [];
  /** The largest number of concurrent requests so far. */
  maxConcurrent = 0;
  readonly #options: FakeOptions;
  readonly #server: LocalServer;
  #concurrent = 0;

  private constructor(options: FakeOptions) {
    this.#options = options;
    this.#server = new LocalServer((request, response) => void this.#serve(request, response));
  }

  static async open(options: FakeOptions = {}): Promise<FakeOpenAi> {
    const fake = new FakeOpenAi(options);
    await fake.#server.listen(options.port);
    return fake;
  }

  get url(): string {
    return this.#server.url;
  }

  get environment(): { OPENAI_BASE_URL: string; OPENAI_API_KEY: string } {
    return { OPENAI_BASE_URL: `${this.url}/v1`, OPENAI_API_KEY: FAKE_KEY };
  }

  /** Environment variables with which a command uses this fake as an Azure endpoint. */
  get azureEnvironment(): Record<string, string> {
    return {
      AZURE_OPENAI_ENDPOINT: this.url,
      AZURE_OPENAI_API_KEY: FAKE_KEY,
      AZURE_OPENAI_DEPLOYMENT: 'fake-deployment',
      OPENAI_API_VERSION: '2024-10-21',
    };
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.maxConcurrent = Math.max(this.maxConcurrent, ++this.#concurrent);
    response.on('close', () => {
      this.#concurrent--;
    });
    const text = Buffer.concat(await incoming.toArray()).toString();
    const path = incoming.url ?? '';
    const [plain] = path.split('?');
    if (incoming.method !== 'POST' || (plain !== OPENAI_PATH && !AZURE_PATH.test(plain))) {
      return json(response, 404, { error: { message: `no such path: ${plain}` } });
    }
    const body = JSON.parse(text);
    const user = body.messages.at(-1).content;
    const receivedAt = performance.now();
    const request = { index: this.requests.length, receivedAt, path, headers: incoming.headers, body, user };
    this.requests.push(request);
    if (this.#options.delay) await wait(this.#options.delay);
    await this.#answer(request, response);
  }

  async #answer(request: FakeRequest, response: ServerResponse): Promise<void> {
    const content = (this.#options.answer ?? answerOf)(request);
    const correctReply = replyOf(request, content);
    const fault = this.#options.faultOf?.(request) ?? null;
    const act = typeof fault === 'string' ? FAULTS[fault] : fault;
    if (typeof fault === 'string' && act === undefined) throw new Error(`no such fault: ${fault}`);
    if (act === null && request.body.stream) stream(response, correctReply);
    else if (act === null) json(response, 200, correctReply);
    else await act({ request, response, correctReply });
    // An endpoint charges for an answer even if the client has disconnected.
    if (response.statusCode === 200) this.billed.push(usageOf(request, content));
  }
}

/** Returns the number of tokens of a text, of four bytes each. */
const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

function usageOf({ body }: FakeRequest, content: string): FakeUsage {
  const messages = body.messages as { role: string; content: string }[];
  const counts = messages.map((message) => tokensOf(message.content));
  // The system message comes from the cache.
  const cached_tokens = messages[0].role === 'system' ? counts[0] : 0;
  const prompt_tokens = counts.reduce((sum, count) => sum + count, 0);
  return { prompt_tokens, completion_tokens: tokensOf(content), prompt_tokens_details: { cached_tokens } };
}

const replyOf = (request: FakeRequest, content: string): Reply => ({
  id: `chatcmpl-${request.index}`,
  object: 'chat.completion',
  created: 0,
  model: request.body.model,
  choices: [{ index: 0, finish_reason: 'stop', message: messageOf(request, content) }],
  usage: usageOf(request, content),
});

/** Returns the message of an answer: a call of the tool `act`, if the request offers tools and the answer is a line. */
function messageOf({ body }: FakeRequest, content: string): Record<string, unknown> {
  const line = /^(?:<reasoning>(.*)<\/reasoning>\n)?(\d) (\d) (\d) (\w+)$/.exec(content);
  if (!body.tools || line === null) return { role: 'assistant', content };
  const [, said = null, social, morning, work, action] = line;
  const given = { action, social: Number(social), morning: Number(morning), work: Number(work) };
  const call = { name: 'act', arguments: JSON.stringify(given) };
  return { role: 'assistant', content: said, tool_calls: [{ id: 'c', type: 'function', function: call }] };
}

interface MessageParts {
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** Sends a reply as a stream of server-sent events: the texts in pieces, then the end, then the usage. */
function stream(response: ServerResponse, reply: Reply): void {
  const [{ message, finish_reason }] = reply.choices as { message: MessageParts; finish_reason: string }[];
  const piecesOf = (text: string) => text.match(/.{1,7}/gs) ?? [];
  const deltas = [
    ...piecesOf(message.content ?? '').map((content) => ({ content })),
    ...(message.tool_calls ?? []).flatMap(({ function: call }) =>
      piecesOf(call.arguments).map((text, k) => ({
        tool_calls: [{ index: 0, function: { ...(k === 0 && { name: call.name }), arguments: text } }],
      })),
    ),
  ];
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason }] },
    { choices: [], usage: reply.usage },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  response.end('data: [DONE]\n\n');
}

/** For each meter, an action that raises it. */
const RAISING_ACTION: Readonly<Record<string, string>> = {
  vitality: 'SLEEP',
  cognition: 'MEDITATE',
  progress: 'DEEP_WORK',
  serenity: 'EXERCISE',
  connection: 'SOCIALIZE',
};

/** Returns the default answer: an action that raises the lowest meter, and a belief that depends on the last reward. */
function answerOf({ user }: FakeRequest): string {
  const meters = [...(/^Meters: (.*)$/m.exec(user)?.[1] ?? '').matchAll(/(\w+) (-?[\d.]+)/g)];
  const [[, name, value]] = meters.sort(([, , a], [, , b]) => Number(a) - Number(b));
  const reward = Number(/reward (-?[\d.]+)/.exec(user)?.[1] ?? 0);
  const digit = Math.min(9, Math.max(0, Math.round(4.5 + 4 * reward)));
  return `<reasoning>${name} is lowest, at ${value}.</reasoning>\n${digit} 5 ${9 - digit} ${RAISING_ACTION[name] ?? 'SLEEP'}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      delay: { type: 'string' },
      fault: { type: 'string' },
      every: { type: 'string' },
    },
  });
  const every = Number(values.every ?? 10);
  const faults = values.fault?.split(',') ?? [];
  const fake = await FakeOpenAi.open({
    port: Number(values.port ?? 0),
    delay: Number(values.delay ?? 0),
    faultOf: ({ index }) =>
      faults.length > 0 && index % every === every - 1
        ? faults[Math.floor(index / every) % faults.length]
        : null,
  });
  printExports('A model', fake);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
