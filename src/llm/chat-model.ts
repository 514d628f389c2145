/** A model behind a chat endpoint: asked until it answers, or for as long as there is any use in it. */
import type { OpenAI } from 'openai';
import { askAgain, type BackOff, backOff, type Failed } from '../http/ask-again.js';
import { CLOCK, type Clock } from '../http/clock.js';
import type { Prompt } from '../text/prompt.js';
import type { Sampling, Usage } from '../trajectory/episode.js';
import { Deadline } from './deadline.js';
import type { Endpoint } from './endpoint.js';
import { EndpointError, PassingFault } from './errors.js';
import { clip, faultOf, refusalOf } from './faults.js';
import { Gate } from './gate.js';
import { costOf, type Ledger, mostFor } from './ledger.js';
import { type LimitName, LimitNames } from './limit-name.js';
import type { Answer, LanguageModel } from './model.js';
import { FILTERED, type Reply, readReply } from './reply.js';
import type { Tally } from './tally.js';

export interface ChatModelOptions {
  /** As files call it, and as the endpoint does, but for an Azure deployment of another name. */
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly client: Pick<OpenAI, 'chat'>;
  readonly sampling: Sampling;
  /** Of one request, from its sending to the last byte of its answer. */
  readonly timeoutMs: number;
  /** Further tries of a request that has failed. */
  readonly retries: number;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly clock?: Clock;
  /** From 0 to below 1. */
  readonly random?: () => number;
}

/** Where an endpoint says nothing. */
const WAITS: BackOff = { first: 500, last: 60_000 };
/** Longer than this nobody wants to look at a command that waits. */
const MOST_WAIT_MS = 15 * 60_000;
/** So that those who waited do not all come back at once. */
const SPREAD = 0.25;
/** What a chat template adds to a prompt's own tokens, at the most. */
const TEMPLATE_TOKENS = 64;

/** A prompt that is being answered. */
interface Asking {
  readonly prompt: Prompt;
  readonly signal: AbortSignal;
  /** Sent so far. */
  requests: number;
}

type Body = Parameters<OpenAI['chat']['completions']['create']>[0];

export class ChatModel implements LanguageModel {
  readonly name: string;
  readonly sampling: Sampling;
  readonly ledger: Ledger;
  readonly #options: ChatModelOptions;
  readonly #clock: Clock;
  readonly #gate: Gate;
  readonly #limitNames = new LimitNames();

  constructor(options: ChatModelOptions) {
    this.name = options.name;
    this.sampling = options.sampling;
    this.ledger = options.ledger;
    this.#options = options;
    this.#clock = options.clock ?? CLOCK;
    this.#gate = new Gate(this.#clock);
  }

  async complete(prompt: Prompt, signal: AbortSignal): Promise<Answer> {
    const { retries, tally } = this.#options;
    const asking = { prompt, signal, requests: 0 };
    const reply = await askAgain(() => this.#try(asking), {
      ...{ retries, signal, clock: this.#clock },
      waitAfter: (failed) => this.#waitAfter(failed),
    });
    const usage = this.#usageOf(reply, asking);
    tally.answered(usage);
    const { completion, reasoning, finish, refused } = reply;
    return { completion, reasoning, finish, refused, usage };
  }

  /** As `askAgain` wants it. @throws EndpointError after the last try, and where nobody wants to wait so long. */
  #waitAfter({ error, attempt, left }: Failed): number | null {
    if (!(error instanceof PassingFault)) return null;
    const { url } = this.#options.endpoint;
    if (left === 0) {
      const tries = attempt === 1 ? 'got' : `got ${attempt} failures one after the other, the last of them`;
      throw new EndpointError(
        `Expected ${url} to answer, ${tries}: ${error.message}. Check that it runs and its address, try again later, or raise --retries.`,
        { lasting: false },
      );
    }
    const asked = error.retryAfterMs;
    if (asked !== null && asked > MOST_WAIT_MS) {
      throw new EndpointError(
        `Expected ${url} to let requests in again within ${MOST_WAIT_MS / 1000} s, was told to wait ` +
          `${Math.ceil(asked / 1000)} s: ${error.message}. Try again after that.`,
        { lasting: true },
      );
    }
    const random = this.#options.random ?? Math.random;
    // Told to come at once it still gives the endpoint time.
    const wait = asked || backOff(WAITS, attempt);
    if (error.crowded) this.#gate.close(wait);
    return wait * (1 + SPREAD * random());
  }

  /** One request, but where another form of it is asked for. */
  async #try(asking: Asking): Promise<Reply> {
    for (;;) {
      const name = this.#limitNames.current;
      try {
        return await this.#request(asking, name);
      } catch (error) {
        if (!(error instanceof OtherName)) throw error;
        if (!this.#limitNames.refuse(name)) throw error.fault;
      }
    }
  }

  async #request(asking: Asking, limitName: LimitName): Promise<Reply> {
    const { prompt, signal } = asking;
    await this.#gate.pass(signal);
    const most = this.#most(prompt);
    const reservation = await this.ledger.reserve(most, signal);
    this.#options.tally.requests++;
    asking.requests++;
    // What is lost without a word may have been paid for.
    let cost = most;
    try {
      const reply = await this.#send(asking, limitName);
      cost = this.#costOf(reply, prompt);
      if ((reply.tokens?.completion ?? 0) > this.sampling.max_tokens) this.#limitNames.exceeded();
      return reply;
    } catch (error) {
      if (wasFree(error)) cost = 0;
      throw error;
    } finally {
      reservation.settle(cost);
    }
  }

  /** @throws PassingFault, EndpointError, OtherName; the signal's reason. */
  async #send({ prompt, signal }: Asking, limitName: LimitName): Promise<Reply> {
    const { endpoint, client, timeoutMs } = this.#options;
    const deadline = new Deadline(timeoutMs, signal);
    let body: unknown;
    try {
      body = await client.chat.completions.create(this.#body(prompt, limitName), { signal: deadline.signal });
    } catch (thrown) {
      signal.throwIfAborted();
      if (deadline.passed) {
        throw new PassingFault(`no whole answer within ${timeoutMs / 1000} s`, { mayHaveCost: true });
      }
      const refusal = refusalOf(thrown);
      if (refusal === 'filtered') return FILTERED;
      const fault = faultOf(thrown, endpoint, this.#clock.now());
      throw refusal === 'limit-name' ? new OtherName(fault) : fault;
    } finally {
      deadline.end();
    }
    const reply = readReply(body, endpoint.redact);
    if (reply !== null) return reply;
    const got = typeof body === 'string' ? body : (JSON.stringify(body) ?? 'nothing');
    const said = clip(endpoint.redact(got));
    throw new PassingFault(`Expected a chat completion, got ${said}`, { mayHaveCost: true });
  }

  #body([system, user]: Prompt, limitName: LimitName): Body & { stream?: false } {
    const { max_tokens, ...sampling } = this.sampling;
    const { endpoint } = this.#options;
    const model = (endpoint.kind === 'azure' ? endpoint.deployment : null) ?? this.name;
    return { model, messages: [system, user], [limitName]: max_tokens, ...sampling };
  }

  /** Dollars: no token is less than a byte. */
  #most([system, user]: Prompt, completion = this.sampling.max_tokens): number {
    const { prices } = this.ledger;
    const bytes = Buffer.byteLength(system.content) + Buffer.byteLength(user.content);
    return prices === null ? 0 : mostFor(prices, bytes + TEMPLATE_TOKENS, completion);
  }

  /** Of an endpoint that does not count, the most that it can have been: a filter has written nothing. */
  #costOf(reply: Reply, prompt: Prompt): number {
    const { prices } = this.ledger;
    if (prices === null) return 0;
    if (reply.tokens !== null) return costOf(prices, reply.tokens);
    return reply === FILTERED ? this.#most(prompt, 0) : this.#most(prompt);
  }

  #usageOf(reply: Reply, { prompt, requests }: Asking): Usage {
    const { tokens, finish, refused } = reply;
    return {
      requests,
      ...(tokens === null
        ? {}
        : {
            prompt_tokens: tokens.prompt,
            cached_tokens: tokens.cached,
            completion_tokens: tokens.completion,
          }),
      ...(this.ledger.prices === null ? {} : { cost_usd: this.#costOf(reply, prompt) }),
      cut_off: finish === 'length' ? 1 : 0,
      refused: refused ? 1 : 0,
    };
  }
}

/** The endpoint wants the limit by its other name. */
class OtherName extends Error {
  readonly fault: Error;

  constructor(fault: Error) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Whether nobody is paid for a request that failed so. */
const wasFree = (error: unknown): boolean =>
  error instanceof EndpointError ||
  error instanceof OtherName ||
  (error instanceof PassingFault && !error.mayHaveCost);
