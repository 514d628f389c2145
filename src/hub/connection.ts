/** How the Hub is spoken to. */
import type { Account } from './account.js';
import { loadHub } from './library.js';
import { type FetchOptions, PATIENCE, patientFetch } from './patient-fetch.js';
import type { Connection } from './remote.js';

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
