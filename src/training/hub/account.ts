/** The settings of an upload: the Hub's URL, the token, and the names of the repository and the branch. */
import { existsSync, readFileSync } from 'node:fs';
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
 * Returns the Hub's URL and the token. @throws InputError for an invalid endpoint or token, without the token in its message;
 * the system's error if the file of the token cannot be read.
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
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOCAL_HOSTS.includes(url.hostname));
  if (url !== null && isSafe && url.username + url.password + url.search === '')
    return url.href.replace(/\/+$/, '');
  // The error does not quote the URL, which may have a password in it.
  throw new InputError(
    'out_of_range',
    'Expected HF_ENDPOINT to be an https URL, or an http URL of this machine, without user name, password and query, because ' +
      `the token is sent there; got another URL. Unset HF_ENDPOINT to use ${DEFAULT_ENDPOINT}.`,
  );
}

function tokenOf(env: Variables): string | null {
  const { HF_TOKEN_PATH, HF_HOME, XDG_CACHE_HOME } = env;
  const home = HF_HOME || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface');
  // `hf auth login` writes the token to this file.
  const path = HF_TOKEN_PATH || join(home, 'token');
  const source = ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN'].find((name) => env[name]?.trim()) ?? path;
  const token = (env[source] ?? (existsSync(path) ? readFileSync(path, 'utf8') : '')).trim();
  if (token === '') return null;
  if (/^hf_[\w.-]+$/.test(token)) return token;
  throw new InputError('wrong_type', {
    expected: `the token of ${source} to be hf_ followed by letters, digits, _, . or -`,
    got: 'something else',
    remedy: `Copy it again from ${DEFAULT_ENDPOINT}/settings/tokens.`,
  });
}

export const REPO_TYPES = ['dataset', 'model'] as const;
export type RepoType = (typeof REPO_TYPES)[number];

export interface Repo {
  readonly type: RepoType;
  /** USER/NAME. */
  readonly name: string;
}

/** USER and NAME have at most 96 characters, as in huggingface_hub 1. As at the Hub, - and . may not be at their ends. */
const REPO = /^(?!.*(?:--|\.\.|\.git$))\w(?:[\w.-]{0,94}\w)?\/\w(?:[\w.-]{0,94}\w)?$/;
const BRANCH = /^(?![0-9a-f]{40}$)(?!.*(?:\.\.|\/\/|\/\.|\.lock(?:\/|$)|[./]$))\w[\w./-]{0,199}$/;

/** Validates the name of a repository. @throws InputError `unknown_name`. */
export function checkRepo(type: RepoType, name: string): Repo {
  if (REPO.test(name)) return { type, name };
  const hasType = /^(?:datasets?|models?|spaces)\/|:\/\//.test(name);
  throw new InputError(
    'unknown_name',
    'Expected --repo to be USER/NAME: letters, digits and _, with - and . between them, at most 96 characters each, ' +
      `no -- or .. and no .git at the end; got ${JSON.stringify(name.slice(0, 200))}.` +
      (hasType ? ' Pass only USER/NAME, and the type as --type.' : ' Pass the name of a repository.'),
  );
}

/** Validates the name of a branch. @throws InputError `unknown_name`. */
export function checkBranch(name: string): string {
  if (BRANCH.test(name)) return name;
  throw new InputError(
    'unknown_name',
    'Expected --branch to be the name of a branch, such as main, not a commit: at most 200 letters, digits and _ - . /, a ' +
      'letter, digit or _ first, no .., // or /., no part that ends with .lock, and no . or / at the end; got ' +
      `${JSON.stringify(name.slice(0, 200))}. Pass the name of a branch.`,
  );
}

/** Formats type and name for messages. */
export const repoText = ({ type, name }: Repo): string => `${type} ${name}`;

/** Returns the URL of the repository's page. */
export const repoUrl = (endpoint: string, { type, name }: Repo): string =>
  `${endpoint}/${type === 'dataset' ? 'datasets/' : ''}${name}`;
