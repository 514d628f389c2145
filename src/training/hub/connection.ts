/** The connection to the Hub. */
import { CLOCK } from '../../shared/http/clock.js';
import { load } from '../../shared/optional-packages.js';
import type { Account } from './account.js';
import { type FetchOptions, fetchWithRetry } from './fetch-with-retry.js';

type HubLibrary = typeof import('@huggingface/hub');

/** How requests are made. */
export interface Connection {
  readonly library: HubLibrary;
  readonly endpoint: string;
  readonly token: string | null;
  readonly fetch: typeof fetch;
}

export type ConnectOptions = Omit<FetchOptions, 'token' | 'clock'> & Partial<Pick<FetchOptions, 'clock'>>;

/** Asks nothing yet. @throws LibraryError `library_missing`. */
export async function connect(
  { endpoint, token }: Account,
  { clock = CLOCK, ...options }: ConnectOptions,
): Promise<Connection> {
  const library = await load('uploads', ['@huggingface/hub@2'], () => import('@huggingface/hub'));
  return { library, endpoint, token, fetch: fetchWithRetry({ ...options, clock, token }) };
}

/** What the library's functions take, beside what each is for. */
export const common = ({ endpoint, token, fetch }: Connection) => ({
  hubUrl: endpoint,
  fetch,
  accessToken: token ?? undefined,
});
