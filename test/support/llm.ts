/** Models of the fake endpoint. */
import { afterEach } from 'vitest';
import { createVecEnv } from '../../src/index.js';
import { ChatModel, type ChatModelOptions } from '../../src/llm/chat-model.js';
import { openClient } from '../../src/llm/client.js';
import { type Endpoint, toEndpoint } from '../../src/llm/endpoint.js';
import { costOf, Ledger, type LedgerOptions } from '../../src/llm/ledger.js';
import type { Answer } from '../../src/llm/model.js';
import { Tally } from '../../src/llm/tally.js';
import type { AskedWeek } from '../../src/llm/weeks.js';
import { prompt } from '../../src/text/prompt.js';
import { FakeOpenAi, type FakeOptions } from '../fakes/openai.js';
import { PatientClock } from './patient-clock.js';

export const PRICES = { prompt: 2.5, completion: 10, cached: 1.25 };

const open: FakeOpenAi[] = [];
afterEach(async () => {
  for (const fake of open.splice(0)) await fake.close();
});

/** Closed after the test. */
export async function startModel(options: FakeOptions = {}): Promise<FakeOpenAi> {
  const fake = await FakeOpenAi.open(options);
  open.push(fake);
  return fake;
}

export interface ModelOptions extends Partial<Omit<ChatModelOptions, 'ledger'>> {
  readonly ledger?: Partial<LedgerOptions>;
}

export interface Asked {
  readonly model: ChatModel;
  readonly tally: Tally;
  readonly ledger: Ledger;
  readonly clock: PatientClock;
}

/** A model that asks a fake, of one try unless more are asked for. */
export async function modelOf(fake: FakeOpenAi, options: ModelOptions = {}): Promise<Asked> {
  const { timeoutMs = 5000, ...others } = options;
  const endpoint: Endpoint = options.endpoint ?? toEndpoint({ environment: fake.environment });
  const [tally, clock] = [new Tally(), new PatientClock()];
  const ledger = new Ledger({ prices: null, budget: null, ...options.ledger });
  const client = await openClient(endpoint, timeoutMs);
  const given = { name: 'fake', sampling: { max_tokens: 64 }, retries: 0, random: () => 0 };
  const model = new ChatModel({ ...given, clock, ...others, endpoint, client, tally, ledger, timeoutMs });
  return { model, tally, ledger, clock };
}

const FIRST = (() => {
  using env = createVecEnv({ numEnvs: 1 });
  return env.reset({ seed: 1 }).observations.slice();
})();

/** What is asked first in a week. */
export const firstPrompt = () => prompt(FIRST, []);

export interface Outcome extends Asked {
  readonly fake: FakeOpenAi;
  readonly answer: Answer | null;
  readonly error: Error | null;
}

/** Asks a fake of its own once, at a price. */
export async function askOnce(of: FakeOptions, options: ModelOptions = {}): Promise<Outcome> {
  const fake = await startModel(of);
  const asked = await modelOf(fake, { ledger: { prices: PRICES }, ...options });
  const outcome = await asked.model.complete(firstPrompt(), NEVER).then(
    (answer) => ({ answer, error: null }),
    (error: Error) => ({ answer: null, error }),
  );
  return { ...asked, fake, ...outcome };
}

/** What a fake would be paid, by PRICES. */
export const billedFor = ({ billed }: FakeOpenAi): number =>
  billed.reduce((sum, usage) => {
    const cached = usage.prompt_tokens_details.cached_tokens;
    return sum + costOf(PRICES, { prompt: usage.prompt_tokens, cached, completion: usage.completion_tokens });
  }, 0);

export const PLAYER = { teacher: 'llm', model: 'fake', objective: null, oracle: false };

export const weeksFrom = (first: number, count: number): AskedWeek[] =>
  Array.from({ length: count }, (_, k) => ({
    seed: first + k,
    profileMode: 'sampled',
    condition: 'custom',
  }));

export const NEVER: globalThis.AbortSignal = new AbortController().signal;
