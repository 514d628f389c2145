/** The connection to the Hub. */
import { CLOCK } from '../../shared/http/retry.js';
import { load } from '../../shared/optional-packages.js';
import type { Account } from './account.js';
import { type FetchOptions, fetchWithRetry } from './fetch-with-retry.js';

type HubLibrary = typeof import('@huggingface/hub');

/** The library of the Hub, and the settings of its requests. */
export interface Connection {
  readonly library: HubLibrary;
  readonly endpoint: string;
  readonly token: string | null;
  readonly fetch: typeof fetch;
}

export type ConnectOptions = Omit<FetchOptions, 'token' | 'clock'> & Partial<Pick<FetchOptions, 'clock'>>;

/** Creates a connection, without a request. @throws LibraryError `library_missing`. */
export async function connect(
  { endpoint, token }: Account,
  { clock = CLOCK, ...options }: ConnectOptions,
): Promise<Connection> {
  const library = await load('uploads', ['@huggingface/hub@2'], () => import('@huggingface/hub'));
  return { library, endpoint, token, fetch: fetchWithRetry({ ...options, clock, token }) };
}

/** Returns the parameters that all functions of the library take. */
export const commonParams = ({ endpoint, token, fetch }: Connection) => ({
  hubUrl: endpoint,
  fetch,
  accessToken: token ?? undefined,
});
