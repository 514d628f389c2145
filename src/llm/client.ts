/** The official client, loaded when a model is asked: who asks none need not have it. */
import type { ClientOptions, OpenAI } from 'openai';
import { load } from '../libraries.js';
import type { Endpoint } from './endpoint.js';

/**
 * A client that sends each request once, says nothing by itself, and follows nobody elsewhere with the key.
 * @throws LibraryError `library_missing`.
 */
export async function openClient(endpoint: Endpoint, timeoutMs: number): Promise<OpenAI> {
  const { OpenAI, AzureOpenAI } = await load('language models', ['openai@6'], () => import('openai'));
  const { url, key, query } = endpoint;
  const common = {
    timeout: timeoutMs,
    maxRetries: 0,
    // Whatever OPENAI_LOG says: at its debug level the client would print whole requests.
    logLevel: 'off',
    adminAPIKey: null,
    defaultQuery: query,
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
