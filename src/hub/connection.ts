/** How the Hub is spoken to. */
import { CLOCK } from '../http/clock.js';
import type { Account } from './account.js';
import { type HubLibrary, loadHub } from './library.js';
import { type FetchOptions, patientFetch } from './patient-fetch.js';

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
  const library = await loadHub();
  return { library, endpoint, token, fetch: patientFetch({ ...options, clock, token }) };
}

/** What the library's functions take, beside what each is for. */
export const common = ({ endpoint, token, fetch }: Connection) => ({
  hubUrl: endpoint,
  fetch,
  accessToken: token ?? undefined,
});
