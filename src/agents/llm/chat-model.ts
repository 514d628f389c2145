/** A model behind a chat endpoint. Retries requests whose failure may be temporary. */
import type { OpenAI } from 'openai';
import { ACT_TOOL, type ChatTurn, type ChatTurns } from '../../rollouts/text/chat.js';
import type { ParseOptions } from '../../rollouts/text/parse-completions.js';
import { beginsInThought } from '../../rollouts/text/parse-completions.js';
import type { Sampling, Usage } from '../../rollouts/trajectories/trajectory-episode.js';
import { CLOCK, type Clock, retry } from '../../shared/http/retry.js';
import { type Endpoint, MAX_BODY_BYTES } from './endpoint.js';
import { type Answer, EndpointError, type LanguageModel } from './language-model.js';
import { type CostLedger, costOf, maxCostOf, type UsageTally } from './ledger.js';
import { FILTERED, type Reply, readReply } from './reply.js';
import { bodyOf, STREAM_ABOVE_MS } from './reply-stream.js';
import { clip, faultOf, type LimitName, LimitNames, refusalOf, TemporaryFailure } from './request-faults.js';
import { Deadline, type Pauses, RateLimiter, waitAfter } from './request-timing.js';

/** The role of the rules: 'system', a message of their own; 'user', the beginning of the only message. */
export type SystemRole = 'system' | 'user';

/** Options of a `ChatModel`. */
export interface ChatModelOptions {
  /** The model's name in files. The endpoint gets this name too, or the name of an Azure deployment instead. */
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Sends the requests. */
  readonly client: Pick<OpenAI, 'chat'>;
  readonly sampling: Sampling;
  /** 'open' if the model's chat template opens a thought that the answers continue. Default 'closed'. */
  readonly thought?: ParseOptions['thought'];
  /** The role of the rules. Default: 'system' until the endpoint refuses it, then 'user'. */
  readonly systemRole?: SystemRole;
  /** The time limit of one request in milliseconds, to the last byte of its answer. */
  readonly timeoutMs: number;
  /** The maximum number of retries of a failed request. */
  readonly retries: number;
  /** The budget: reserves and records the cost of each request. */
  readonly ledger: CostLedger;
  /** Counts requests, answers and tokens. */
  readonly tally: UsageTally;
  /** Pauses all requests after status 429 or 503. Default: a limiter of this model alone. */
  readonly rateLimiter?: Pauses;
  readonly clock?: Clock;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
}

/**
 * The number of tokens that a chat template may add to a message. Chosen by hand: a larger number reserves more of the budget
 * for each request; with a smaller one, correct token counts may be taken as impossible.
 */
const TEMPLATE_TOKENS = 32;

/** A chat without an answer yet. */
interface PendingRequest {
  readonly chat: ChatTurns;
  readonly signal: AbortSignal;
  /** The number of requests sent so far. */
  requests: number;
}

/** What endpoints may refuse in a request. */
interface RequestForm {
  readonly limitName: LimitName;
  readonly systemRole: SystemRole;
}

type Body = Parameters<OpenAI['chat']['completions']['create']>[0];

/** Answers prompts with chat requests to one endpoint, within the budget of its ledger. */
export class ChatModel implements LanguageModel {
  readonly name: string;
  readonly sampling: Sampling;
  readonly ledger: CostLedger;
  readonly #options: ChatModelOptions & Required<Pick<ChatModelOptions, 'clock' | 'random' | 'rateLimiter'>>;
  readonly #limitNames = new LimitNames();
  #systemRole: SystemRole;

  constructor(options: ChatModelOptions) {
    this.name = options.name;
    this.sampling = options.sampling;
    this.ledger = options.ledger;
    const { clock = CLOCK, random = Math.random, rateLimiter = new RateLimiter(clock) } = options;
    this.#options = { ...options, clock, random, rateLimiter };
    this.#systemRole = options.systemRole ?? 'system';
  }

  async complete(chat: ChatTurns, signal: AbortSignal): Promise<Answer> {
    const { retries, tally, clock, endpoint, rateLimiter, random } = this.#options;
    const pending = { chat, signal, requests: 0 };
    const reply = await retry(() => this.#try(pending), {
      retries,
      signal,
      clock,
      waitAfter: (failed) => waitAfter(failed, endpoint.url, rateLimiter, random),
    });
    const usage = this.#usageOf(reply, pending);
    tally.addAnswer(usage);
    const { completion, reasoning, finish, refused } = reply;
    return { completion, reasoning, finish, refused, usage };
  }

  /** Sends a request, and again in another form while the endpoint refuses the form. */
  async #try(pending: PendingRequest): Promise<Reply> {
    let refused: RefusedForm | null = null;
    for (;;) {
      const form = { limitName: this.#limitNames.current, systemRole: this.#systemRole };
      try {
        return await this.#request(pending, form);
      } catch (error) {
        if (!(error instanceof RefusedForm)) throw error;
        if (!this.#refuse(error.refusal, form)) throw finalFault(refused, error, form);
        refused = error;
      }
    }
  }

  /** Records a refused form. @returns whether another can still be tried. */
  #refuse(refusal: RefusedForm['refusal'], { limitName, systemRole }: RequestForm): boolean {
    if (refusal === 'limit-name') return this.#limitNames.refuse(limitName);
    this.#systemRole = 'user';
    return systemRole === 'system';
  }

  /** Sends one request after pauses, if it fits into the budget, and records its cost. */
  async #request(pending: PendingRequest, form: RequestForm): Promise<Reply> {
    const { chat, signal } = pending;
    await this.#options.rateLimiter.wait(signal);
    const maxCost = this.#maxCost(chat);
    const reservation = await this.ledger.reserve(maxCost, signal);
    this.#options.tally.requests++;
    pending.requests++;
    // A request that is lost without an answer may be charged.
    let cost = maxCost;
    try {
      const reply = await this.#send(pending, form);
      if ((reply.tokens?.completion ?? 0) > this.sampling.max_tokens) this.#limitNames.exceeded();
      const plausible = this.#isPossible(reply, chat) ? reply : { ...reply, tokens: null };
      cost = this.#costOf(plausible, chat);
      return plausible;
    } catch (error) {
      if (isUncharged(error)) cost = 0;
      throw error;
    } finally {
      reservation.settle(cost);
    }
  }

  /** Sends a request and reads the reply. */
  async #send({ chat, signal }: PendingRequest, form: RequestForm): Promise<Reply> {
    const { endpoint, client, timeoutMs, thought } = this.#options;
    const deadline = new Deadline(timeoutMs, signal);
    let body: unknown;
    try {
      body = await client.chat.completions.create(this.#body(chat, form), { signal: deadline.signal });
      if (this.#streams) {
        body = await bodyOf(body as AsyncIterable<unknown>, MAX_BODY_BYTES);
        // The client ends an aborted stream as if it were complete.
        deadline.signal.throwIfAborted();
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (deadline.passed) {
        throw new TemporaryFailure(`no complete answer within ${timeoutMs / 1000} s`, { mayBeCharged: true });
      }
      const refusal = refusalOf(thrown, form.limitName);
      if (refusal === 'filtered') return FILTERED;
      const fault = faultOf(thrown, endpoint, this.#options.clock.now());
      throw refusal === null ? fault : new RefusedForm(refusal, fault);
    } finally {
      deadline.end();
    }
    const reply = readReply(body, endpoint.redact, beginsInThought(thought), this.sampling.form === 'tools');
    if (reply !== null) return reply;
    const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? 'nothing');
    const excerpt = clip(endpoint.redact(text));
    throw new TemporaryFailure(`an answer that is not a chat completion: ${excerpt}`, { mayBeCharged: true });
  }

  /** Whether answers are streamed. */
  get #streams(): boolean {
    return this.#options.timeoutMs > STREAM_ABOVE_MS;
  }

  #body(chat: ChatTurns, { limitName, systemRole }: RequestForm): Body {
    const { max_tokens, form, ...sampling } = this.sampling;
    const { endpoint } = this.#options;
    const model = (endpoint.kind === 'azure' ? endpoint.deployment : null) ?? this.name;
    const [system, user, ...rest] = chat;
    const both = { role: 'user', content: `${system.content}\n\n${user.content}` } as const;
    const turns = systemRole === 'user' ? [both, ...rest] : chat;
    const messages = turns.map(toMessage);
    const tools = form === 'tools' ? { tools: [ACT_TOOL] as unknown as Body['tools'] } : {};
    const stream = this.#streams ? { stream: true, stream_options: { include_usage: true } } : {};
    return { model, messages, ...tools, [limitName]: max_tokens, ...sampling, ...stream } as Body;
  }

  /**
   * Returns whether the token counts are possible for the request. An answer may exceed its limit if the endpoint ignores
   * the limit.
   */
  #isPossible({ tokens, completion, reasoning = '' }: Reply, chat: ChatTurns): boolean {
    if (tokens === null) return true;
    const bytes = Buffer.byteLength(completion) + Buffer.byteLength(reasoning);
    return (
      tokens.prompt <= maxPromptTokens(chat, this.sampling.form) &&
      tokens.completion <= Math.max(this.sampling.max_tokens, bytes)
    );
  }

  /** Returns the maximum cost of a request in dollars. */
  #maxCost(chat: ChatTurns, completion = this.sampling.max_tokens): number {
    const { prices } = this.ledger;
    return prices === null ? 0 : maxCostOf(prices, maxPromptTokens(chat, this.sampling.form), completion);
  }

  /**
   * Returns the cost of a reply in dollars; the maximum cost if it has no token counts. A filtered reply costs at most the
   * prompt.
   */
  #costOf(reply: Reply, chat: ChatTurns): number {
    const { prices } = this.ledger;
    if (prices === null) return 0;
    if (reply.tokens !== null) return costOf(prices, reply.tokens);
    return reply === FILTERED ? this.#maxCost(chat, 0) : this.#maxCost(chat);
  }

  #usageOf(reply: Reply, { chat, requests }: PendingRequest): Usage {
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
      ...(this.ledger.prices === null ? {} : { cost_usd: this.#costOf(reply, chat) }),
      cut_off: finish === 'length' ? 1 : 0,
      refused: refused ? 1 : 0,
    };
  }
}

/** Returns a message of a request, in which the arguments of a call are a text. */
const toMessage = (turn: ChatTurn): Body['messages'][number] =>
  'tool_calls' in turn
    ? {
        ...turn,
        tool_calls: turn.tool_calls.map((call) => ({
          ...call,
          function: { ...call.function, arguments: JSON.stringify(call.function.arguments) },
        })),
      }
    : turn;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const TOOL_BYTES = bytesOf(ACT_TOOL);

/** Returns the maximum number of tokens of a chat in a form: every token has at least one byte. */
const maxPromptTokens = (chat: ChatTurns, form: Sampling['form']): number =>
  chat.reduce(
    (sum, turn) => {
      const calls = 'tool_calls' in turn ? bytesOf(turn.tool_calls) : 0;
      return sum + Buffer.byteLength(turn.content) + calls + TEMPLATE_TOKENS;
    },
    form === 'tools' ? TOOL_BYTES : 0,
  );

/** Thrown if the endpoint refuses the form of a request. `fault` is the error if no other form is left. */
class RefusedForm extends Error {
  readonly refusal: 'limit-name' | 'system-role';
  readonly fault: Error;

  constructor(refusal: RefusedForm['refusal'], fault: Error) {
    super(fault.message);
    this.refusal = refusal;
    this.fault = fault;
  }
}

/**
 * Returns the error after the last form. If both names of the token limit were refused, it has both messages: the limit may be
 * too large under the one and the other unknown.
 */
const finalFault = (before: RefusedForm | null, last: RefusedForm, { limitName }: RequestForm): Error =>
  before?.refusal === 'limit-name' && last.refusal === 'limit-name'
    ? new EndpointError(`${before.message} With ${limitName}: ${last.message}`, { lasting: true })
    : last.fault;

/** Returns whether a request that failed with this error is not charged. */
const isUncharged = (error: unknown): boolean =>
  error instanceof EndpointError ||
  error instanceof RefusedForm ||
  (error instanceof TemporaryFailure && !error.mayBeCharged);
