/** Opens the official OpenAI client. Its package is loaded only when a model is used. */
import type { ClientOptions, OpenAI } from 'openai';
import { InputError } from '../../shared/errors.js';
import { boundedFetch } from '../../shared/http/bounded-fetch.js';
import { importOptional, load, PACKAGES } from '../../shared/optional-packages.js';
import type { Endpoint } from './endpoint.js';

/**
 * The maximum size of an answer in bytes. Chosen by hand: 262,144 tokens of reasoning and text fit, at four bytes a token. An
 * episode of 28 such answers fits into a line of trajectories: see MAX_LINE_BYTES (src/cli/files/trajectory-files.ts).
 */
export const MAX_BODY_BYTES = 2 ** 20;

const fetchWithinBounds = boundedFetch(MAX_BODY_BYTES);

/**
 * A bounded `fetch` that puts the body of an error, as text, into the field `error` of an object: the client keeps this field
 * of an error body, and drops all others.
 */
const fetchWithErrors: typeof fetch = async (input, init) => {
  const response = await fetchWithinBounds(input, init);
  if (response.ok || response.body === null) return response;
  // Of a body that cannot be read, the reason is kept: it is beyond the limits, or was lost.
  const text = await response.text().catch((error: Error) => error.message);
  return new Response(JSON.stringify({ error: text }), response);
};

type Library = Pick<typeof import('openai'), 'OpenAI' | 'AzureOpenAI'>;

/**
 * Creates a client that sends each request once, logs nothing, follows no redirections, and limits the size of answers.
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
  const common = {
    timeout: timeoutMs,
    maxRetries: 0,
    // Overrides OPENAI_LOG: at its debug level the client prints whole requests.
    logLevel: 'off',
    // Keeps the client from sending OPENAI_ADMIN_KEY.
    adminAPIKey: null,
    defaultQuery: query,
    fetch: fetchWithErrors,
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
