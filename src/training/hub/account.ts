/** Reads the Hub's address and token from the environment, as the Hub's own tools do. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../shared/errors.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Account {
  /** Without a slash at the end. */
  readonly endpoint: string;
  /** Null where there is none: then only what is public can be seen, and nothing written. */
  readonly token: string | null;
}

const HUB = 'https://huggingface.co';

/** @throws InputError for an endpoint or a token that cannot be one; the message never has the token. */
export const accountOf = (env: Environment = process.env): Account => ({
  endpoint: endpointOf(env),
  token: tokenOf(env),
});

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

function endpointOf({ HF_ENDPOINT: text = '' }: Environment): string {
  if (text.trim() === '') return HUB;
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  const safe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOCAL_HOSTS.includes(url.hostname));
  // Not quoted: an address may have a password in it.
  if (url === null || !safe || url.username !== '' || url.password !== '' || url.search !== '') {
    throw new InputError(
      'out_of_range',
      'Expected HF_ENDPOINT to be an address with https, or with http on this machine, and without a password: the token ' +
        `goes there; got another. Unset it for ${HUB}.`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

function tokenOf(env: Environment): string | null {
  for (const name of ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN']) {
    const token = env[name]?.trim() ?? '';
    if (token !== '') return checked(token, name);
  }
  const path = tokenFileOf(env);
  const stored = readIfThere(path).trim();
  return stored === '' ? null : checked(stored, path);
}

/** Where `hf auth login` leaves it. */
function tokenFileOf({ HF_TOKEN_PATH, HF_HOME, XDG_CACHE_HOME }: Environment): string {
  const home = HF_HOME || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface');
  return HF_TOKEN_PATH || join(home, 'token');
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

function checked(token: string, from: string): string {
  if (/^hf_[\w.-]+$/.test(token)) return token;
  throw new InputError(
    'wrong_type',
    `Expected the token of ${from} to be hf_ and letters and digits, got something else. Copy it again from ` +
      `${HUB}/settings/tokens.`,
  );
}
