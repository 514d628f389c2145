/**
 * Chooses the endpoint from options and environment variables, checks them before any request, and opens the official OpenAI
 * client.
 */
import type { ClientOptions, OpenAI } from 'openai';
import { InputError } from '../../shared/errors.js';
import { boundedFetch } from '../../shared/http/bounded-fetch.js';
import { type Redact, redactor } from '../../shared/http/redactor.js';
import { importOptional, load, PACKAGES } from '../../shared/optional-packages.js';
import { STREAM_ABOVE_MS } from './reply-stream.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Options of `toEndpoint`. */
export interface EndpointOptions {
  /** Overrides OPENAI_BASE_URL and AZURE_OPENAI_ENDPOINT. */
  readonly baseUrl?: string;
  /** Default: `process.env`. */
  readonly environment?: Environment;
}

/** The fields of every endpoint. */
interface Common {
  /** The URL without credentials and query, as messages show it. */
  readonly url: string;
  /** Null for an endpoint without a key. */
  readonly key: string | null;
  /** The query of every request's URL. */
  readonly query: Readonly<Record<string, string>>;
  /** Returns a text without the endpoint's secrets. */
  readonly redact: Redact;
}

/** OpenAI, or a server with the same interface. */
export interface OpenAiEndpoint extends Common {
  readonly kind: 'openai';
}

/** A resource of Azure OpenAI. */
export interface AzureEndpoint extends Common {
  readonly kind: 'azure';
  readonly key: string;
  readonly apiVersion: string;
  /** Null if the deployment has the model's name. */
  readonly deployment: string | null;
}

/** An endpoint of either kind. */
export type Endpoint = OpenAiEndpoint | AzureEndpoint;

const OPENAI_URL = 'https://api.openai.com/v1';

/**
 * Returns the endpoint: `baseUrl`, else Azure if AZURE_OPENAI_ENDPOINT is set, else OPENAI_BASE_URL, else OpenAI.
 * @throws InputError `missing_setting` that names the variable, `unknown_option` for two endpoints, `out_of_range` for an
 *   invalid URL or key.
 */
export function toEndpoint({ baseUrl, environment = process.env }: EndpointOptions = {}): Endpoint {
  const read = (name: string): string | null => environment[name]?.trim() || null;
  const azure = read('AZURE_OPENAI_ENDPOINT');
  if (baseUrl !== undefined) return openAi(baseUrl, '--base-url', read);
  const url = read('OPENAI_BASE_URL');
  if (azure === null) return openAi(url ?? OPENAI_URL, 'OPENAI_BASE_URL', read);
  if (url === null) return azureOf(azure, read);
  throw new InputError('unknown_option', {
    expected: 'one endpoint',
    got: 'both OPENAI_BASE_URL and AZURE_OPENAI_ENDPOINT',
    remedy: 'Unset one of these variables, or pass --base-url.',
  });
}

type ReadVariable = (name: string) => string | null;

function openAi(text: string, where: string, read: ReadVariable): OpenAiEndpoint {
  const key = keyOf('OPENAI_API_KEY', read);
  const { url, query } = toUrl(text, where);
  if (key === null && new URL(url).host === new URL(OPENAI_URL).host) {
    throw missing('OPENAI_API_KEY', 'Set it, or pass --base-url for a server without a key.');
  }
  return { kind: 'openai', url, query, key, redact: redactorOf(key, query, read) };
}

function azureOf(text: string, read: ReadVariable): AzureEndpoint {
  const { url, query } = toUrl(text, 'AZURE_OPENAI_ENDPOINT');
  const key = keyOf('AZURE_OPENAI_API_KEY', read);
  if (key === null) throw missing('AZURE_OPENAI_API_KEY', "Set it to one of the resource's keys.");
  const apiVersion = read('OPENAI_API_VERSION');
  if (apiVersion === null) throw missing('OPENAI_API_VERSION', 'Set it, to 2024-10-21 for instance.');
  const deployment = read('AZURE_OPENAI_DEPLOYMENT');
  return {
    kind: 'azure',
    url,
    query,
    key,
    apiVersion,
    deployment,
    redact: redactorOf(key, query, read),
  };
}

/** Returns a key. Refuses a key that is invalid in a header: the client would report it as a lost connection. */
function keyOf(name: string, read: ReadVariable): string | null {
  const key = read(name);
  if (key === null || /^[\x20-\x7e]+$/.test(key)) return key;
  throw new InputError('out_of_range', {
    expected: `${name} to be one line of printable ASCII`,
    got: 'other characters in it',
    remedy: 'Copy the key again.',
  });
}

/** Returns a function that redacts the keys, the values of the query and the values of custom headers. */
function redactorOf(key: string | null, query: Readonly<Record<string, string>>, read: ReadVariable): Redact {
  const headers = (read('OPENAI_CUSTOM_HEADERS') ?? '').split('\n').map((line) => {
    return line.slice(line.indexOf(':') + 1).trim();
  });
  const words = headers.flatMap((value) => [value, ...value.split(' ')]);
  return redactor([key ?? '', ...Object.values(query), ...words, read('OPENAI_ADMIN_KEY') ?? '']);
}

const missing = (name: string, remedy: string): InputError =>
  new InputError('missing_setting', { expected: `${name} in the environment`, got: 'none', remedy });

/** Parses a URL. Messages do not contain its credentials and query. */
function toUrl(text: string, where: string): { url: string; query: Record<string, string> } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InputError('out_of_range', {
      expected: `${where} to be an http or https URL`,
      got: 'another text',
      remedy: 'Pass a URL such as http://localhost:8000/v1.',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new InputError('out_of_range', {
      expected: `${where} to have no user name and password`,
      got: `${url.protocol}//...@${url.host}`,
      remedy: 'Pass the URL without them, and the key in OPENAI_API_KEY (for Azure: AZURE_OPENAI_API_KEY).',
    });
  }
  const query = Object.fromEntries(url.searchParams);
  return { url: `${url.origin}${url.pathname}`.replace(/\/+$/, ''), query };
}

/**
 * The maximum size of an answer in bytes. Chosen by hand: 262,144 tokens of reasoning and text fit, at four bytes a token. An
 * episode of 28 such answers fits into a line of trajectories: see MAX_LINE_BYTES (src/cli/files/trajectory-files.ts).
 */
export const MAX_BODY_BYTES = 2 ** 20;

/** The maximum size of a streamed answer in bytes. Each token comes in an object of its own, of some 250 bytes. */
const MAX_STREAM_BYTES = 2 ** 26;

/**
 * Returns a bounded `fetch` that puts the body of an error, as text, into the field `error` of an object: the client keeps this field
 * of an error body, and drops all others. With `streams`, a body in JSON becomes a stream of one object, because some endpoints do not
 * stream.
 */
function fetchWithErrors(maxBytes: number, streams: boolean): typeof fetch {
  const fetchWithinBounds = boundedFetch(maxBytes);
  return async (input, init) => {
    const response = await fetchWithinBounds(input, init);
    if (response.ok && streams && /^application\/json\b/i.test(response.headers.get('content-type') ?? '')) {
      return new Response(`${(await response.text()).replace(/^/gm, 'data: ')}\n\n`, response);
    }
    if (response.ok || response.body === null) return response;
    // Of a body that cannot be read, the reason is kept: it is beyond the limits, or was lost.
    const text = await response.text().catch((error: Error) => error.message);
    return new Response(JSON.stringify({ error: text }), response);
  };
}

type Library = Pick<typeof import('openai'), 'OpenAI' | 'AzureOpenAI'>;

/**
 * Loads the package openai, and creates a client that sends each request once, logs nothing, follows no redirections, and limits the size of answers.
 * @throws LibraryError `library_missing`; InputError `out_of_range` if OPENAI_CUSTOM_HEADERS is invalid.
 */
export async function openClient(endpoint: Endpoint, timeoutMs: number): Promise<OpenAI> {
  const library = await load('language models', PACKAGES.models, () => importOptional<Library>('openai'));
  try {
    return create(library, endpoint, timeoutMs);
  } catch (error) {
    // The message quotes the headers, which may hold secrets.
    const message = endpoint.redact((error as Error).message);
    throw new InputError(
      'out_of_range',
      `Expected OPENAI_CUSTOM_HEADERS to have one header per line, got: ${message}. Correct it, or unset it.`,
    );
  }
}

function create({ OpenAI, AzureOpenAI }: Library, endpoint: Endpoint, timeoutMs: number): OpenAI {
  const { url, key, query } = endpoint;
  const streams = timeoutMs > STREAM_ABOVE_MS;
  const common = {
    timeout: timeoutMs,
    maxRetries: 0,
    // Overrides OPENAI_LOG: at its debug level the client prints whole requests.
    logLevel: 'off',
    // Keeps the client from sending OPENAI_ADMIN_KEY.
    adminAPIKey: null,
    defaultQuery: query,
    fetch: fetchWithErrors(streams ? MAX_STREAM_BYTES : MAX_BODY_BYTES, streams),
    fetchOptions: { redirect: 'manual' },
  } satisfies ClientOptions;
  if (endpoint.kind === 'azure') {
    const { apiVersion, deployment } = endpoint;
    const azure = { endpoint: url, apiVersion, deployment: deployment ?? undefined };
    // Null, because the client replaces undefined with a value from the environment.
    return new AzureOpenAI({ ...common, ...azure, apiKey: endpoint.key, baseURL: null });
  }
  // The client requires a key. The null header keeps it from being sent.
  const withoutKey = { apiKey: 'none', defaultHeaders: { Authorization: null } };
  return new OpenAI({ ...common, baseURL: url, ...(key === null ? withoutKey : { apiKey: key }) });
}
