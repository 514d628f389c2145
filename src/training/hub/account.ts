/** Reads the Hub's URL and token from environment variables, or the token from the file that `hf auth login` writes. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../shared/errors.js';

type Variables = Readonly<Record<string, string | undefined>>;

export interface Account {
  /** The Hub's URL, without a slash at the end. */
  readonly endpoint: string;
  /** Null without a token. Then only public repositories can be read, and none written. */
  readonly token: string | null;
}

const DEFAULT_ENDPOINT = 'https://huggingface.co';

/**
 * Returns the Hub's URL and the token.
 * @throws InputError for an invalid endpoint or token, without the token in its message; the system's error if the file of the
 *   token cannot be read.
 */
export const accountOf = (env: Variables = process.env): Account => ({
  endpoint: endpointOf(env),
  token: tokenOf(env),
});

/** The names of this machine. A token sent to them over http does not leave the machine. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

function endpointOf({ HF_ENDPOINT: text = '' }: Variables): string {
  if (text.trim() === '') return DEFAULT_ENDPOINT;
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  const safe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOCAL_HOSTS.includes(url.hostname));
  // The error does not quote the URL, which may have a password in it.
  if (url === null || !safe || url.username !== '' || url.password !== '' || url.search !== '') {
    throw new InputError(
      'out_of_range',
      'Expected HF_ENDPOINT to be an https URL, or an http URL of this machine, without user name, password and query, because ' +
        `the token is sent there; got another URL. Unset HF_ENDPOINT to use ${DEFAULT_ENDPOINT}.`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

function tokenOf(env: Variables): string | null {
  for (const name of ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN']) {
    const token = env[name]?.trim() ?? '';
    if (token !== '') return checkToken(token, name);
  }
  const path = tokenFileOf(env);
  const stored = readIfExists(path).trim();
  return stored === '' ? null : checkToken(stored, path);
}

/** Returns the path to which `hf auth login` writes the token. */
function tokenFileOf({ HF_TOKEN_PATH, HF_HOME, XDG_CACHE_HOME }: Variables): string {
  const home = HF_HOME || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface');
  return HF_TOKEN_PATH || join(home, 'token');
}

function readIfExists(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

function checkToken(token: string, source: string): string {
  if (/^hf_[\w.-]+$/.test(token)) return token;
  throw new InputError(
    'wrong_type',
    `Expected the token of ${source} to be hf_ followed by letters, digits, _, . or -, got something else. Copy it again from ` +
      `${DEFAULT_ENDPOINT}/settings/tokens.`,
  );
}
