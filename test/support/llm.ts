/** Opens models at fake endpoints. */
import { onTestFinished } from 'vitest';
import { ChatModel, type ChatModelOptions } from '../../src/agents/llm/chat-model.js';
import { type Endpoint, openClient, toEndpoint } from '../../src/agents/llm/endpoint.js';
import type { Answer } from '../../src/agents/llm/language-model.js';
import { costOf, Ledger, type LedgerOptions, UsageTally } from '../../src/agents/llm/ledger.js';
import type { EpisodeRequest } from '../../src/agents/llm/play-episodes.js';
import { createVecEnv } from '../../src/index.js';
import { prompt } from '../../src/rollouts/text/prompt.js';
import { FakeOpenAi, type FakeOptions } from '../fakes/openai.js';
import { FakeClock } from './fake-clock.js';

/** Prices in dollars per million tokens. */
export const PRICES = { prompt: 2.5, completion: 10, cached: 1.25 };

/** Starts a fake endpoint, which closes after the test. */
export async function startModel(options: FakeOptions = {}): Promise<FakeOpenAi> {
  const fake = await FakeOpenAi.open(options);
  onTestFinished(() => fake.close());
  return fake;
}

export interface ModelOptions extends Partial<Omit<ChatModelOptions, 'ledger'>> {
  readonly ledger?: Partial<LedgerOptions>;
}

export interface OpenModel {
  readonly model: ChatModel;
  readonly tally: UsageTally;
  readonly ledger: Ledger;
  readonly clock: FakeClock;
}

/** Opens a model at a fake endpoint, by default without retries. */
export async function modelOf(fake: FakeOpenAi, options: ModelOptions = {}): Promise<OpenModel> {
  const { timeoutMs = 5000, ...others } = options;
  const endpoint: Endpoint = options.endpoint ?? toEndpoint({ environment: fake.environment });
  const [tally, clock] = [new UsageTally(), new FakeClock()];
  const ledger = new Ledger({ prices: null, budget: null, ...options.ledger });
  const client = await openClient(endpoint, timeoutMs);
  const defaults = { name: 'fake', sampling: { max_tokens: 64 }, retries: 0, random: () => 0 };
  const model = new ChatModel({ ...defaults, clock, ...others, endpoint, client, tally, ledger, timeoutMs });
  return { model, tally, ledger, clock };
}

const FIRST_OBSERVATION = (() => {
  using env = createVecEnv({ numEnvs: 1 });
  return env.reset({ seed: 1 }).observations.slice();
})();

/** Returns the first prompt of an episode. */
export const firstPrompt = () => prompt(FIRST_OBSERVATION, []);

export interface Outcome extends OpenModel {
  readonly fake: FakeOpenAi;
  readonly answer: Answer | null;
  readonly error: Error | null;
}

/** Sends one prompt to a new fake endpoint, with prices. */
export async function askOnce(fakeOptions: FakeOptions, options: ModelOptions = {}): Promise<Outcome> {
  const fake = await startModel(fakeOptions);
  const opened = await modelOf(fake, { ledger: { prices: PRICES }, ...options });
  const outcome = await opened.model.complete(firstPrompt(), NEVER).then(
    (answer) => ({ answer, error: null }),
    (error: Error) => ({ answer: null, error }),
  );
  return { ...opened, fake, ...outcome };
}

/** Returns the cost of a fake endpoint's answers, by PRICES. */
export const billedFor = ({ billed }: FakeOpenAi): number =>
  billed.reduce((sum, usage) => {
    const cached = usage.prompt_tokens_details.cached_tokens;
    return sum + costOf(PRICES, { prompt: usage.prompt_tokens, cached, completion: usage.completion_tokens });
  }, 0);

export const PLAYER = { teacher: 'llm', model: 'fake', objective: null, oracle: false };

export const requestsFrom = (first: number, count: number): EpisodeRequest[] =>
  Array.from({ length: count }, (_, k) => ({
    seed: first + k,
    profileMode: 'sampled',
    condition: 'custom',
  }));

/** A signal that is never aborted. */
export const NEVER: globalThis.AbortSignal = new AbortController().signal;
