/** How the Hub is spoken to. */
import type { Account } from './account.js';
import { type HubLibrary, loadHub } from './library.js';
import { type FetchOptions, PATIENCE, patientFetch } from './patient-fetch.js';

/** How requests are made. */
export interface Connection {
  readonly library: HubLibrary;
  readonly endpoint: string;
  readonly token: string | null;
  readonly fetch: typeof fetch;
}

export interface ConnectOptions extends Omit<FetchOptions, 'token' | 'patience'> {
  readonly patience?: FetchOptions['patience'];
}

/** Asks nothing yet. @throws LibraryError `library_missing`. */
export async function connect(account: Account, options: ConnectOptions): Promise<Connection> {
  const library = await loadHub();
  return {
    library,
    ...account,
    fetch: patientFetch({ patience: PATIENCE, ...options, token: account.token }),
  };
}

/** What the library's functions take, beside what each is for. */
export const common = ({ endpoint, token, fetch }: Connection) => ({
  hubUrl: endpoint,
  fetch,
  accessToken: token ?? undefined,
});
