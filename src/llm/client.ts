/** The official client, loaded when a model is asked: who asks none need not have it. */
import type { ClientOptions, OpenAI } from 'openai';
import { InputError } from '../errors.js';
import { load } from '../libraries.js';
import { boundedFetch } from './bounded-fetch.js';
import type { Endpoint } from './endpoint.js';

type Library = Pick<typeof import('openai'), 'OpenAI' | 'AzureOpenAI'>;

/**
 * A client that sends each request once, says nothing by itself, follows nobody elsewhere with the key, and reads no
 * answer without end.
 * @throws LibraryError `library_missing`; InputError `out_of_range` for headers of the caller's that cannot be sent.
 */
export async function openClient(endpoint: Endpoint, timeoutMs: number): Promise<OpenAI> {
  const library = await load('language models', ['openai@6'], () => import('openai'));
  try {
    return create(library, endpoint, timeoutMs);
  } catch (error) {
    // It quotes what cannot be sent.
    const said = endpoint.redact((error as Error).message);
    throw new InputError(
      'out_of_range',
      `Expected OPENAI_CUSTOM_HEADERS to be a header a line, got: ${said}. Mend it, or unset it.`,
    );
  }
}

function create({ OpenAI, AzureOpenAI }: Library, endpoint: Endpoint, timeoutMs: number): OpenAI {
  const { url, key, query } = endpoint;
  const common = {
    timeout: timeoutMs,
    maxRetries: 0,
    // Whatever OPENAI_LOG says: at its debug level the client would print whole requests.
    logLevel: 'off',
    adminAPIKey: null,
    defaultQuery: query,
    fetch: boundedFetch,
    fetchOptions: { redirect: 'manual' },
  } satisfies ClientOptions;
  if (endpoint.kind === 'azure') {
    const { apiVersion, deployment } = endpoint;
    const place = { endpoint: url, apiVersion, deployment: deployment ?? undefined };
    // Null, not undefined: that would be read from the environment.
    return new AzureOpenAI({ ...common, ...place, apiKey: endpoint.key, baseURL: null });
  }
  // The client refuses to be without a key; a header that is null is not sent.
  const nobody = { apiKey: 'none', defaultHeaders: { Authorization: null } };
  return new OpenAI({ ...common, baseURL: url, ...(key === null ? nobody : { apiKey: key }) });
}
