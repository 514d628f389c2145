/** Validates names of repositories and branches before a request is made. */
import { InputError } from '../../shared/errors.js';

export const REPO_TYPES = ['dataset', 'model'] as const;
export type RepoType = (typeof REPO_TYPES)[number];

export interface Repo {
  readonly type: RepoType;
  /** USER/NAME. */
  readonly name: string;
}

/** The maximum length of USER, and of NAME, in characters: that of huggingface_hub 1. */
const MAX_NAME = 96;
/** Matches USER or NAME. As at the Hub, _ may begin or end it, but - and . may not. */
const NAME_PART = /^[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?$/;

/** Validates the name of a repository. @throws InputError `unknown_name`. */
export function checkRepo(type: RepoType, name: string): Repo {
  const parts = name.split('/');
  const legal =
    parts.length === 2 &&
    parts.every((part) => part.length <= MAX_NAME && NAME_PART.test(part)) &&
    !/--|\.\.|\.git$/.test(name);
  if (legal) return { type, name };
  const hasType =
    ['datasets', 'models', 'spaces', 'dataset', 'model'].includes(parts[0]) || name.includes('://');
  throw new InputError(
    'unknown_name',
    `Expected --repo to be USER/NAME: letters, digits and _, with - and . between them, at most ${MAX_NAME} characters each, ` +
      `no -- or .. and no .git at the end; got ${JSON.stringify(name.slice(0, 2 * MAX_NAME))}.` +
      (hasType ? ' Pass only USER/NAME, and the type as --type.' : ' Pass the name of a repository.'),
  );
}

/** Formats type and name for messages. */
export const repoText = ({ type, name }: Repo): string => `${type} ${name}`;

/** Returns the URL of the repository's page. */
export const repoUrl = (endpoint: string, { type, name }: Repo): string =>
  `${endpoint}/${type === 'dataset' ? 'datasets/' : ''}${name}`;

/** The maximum length of a branch's name in characters, chosen by hand. */
const MAX_BRANCH = 200;
const BRANCH = /^[A-Za-z0-9_][\w./-]*$/;

/** Validates the name of a branch. @throws InputError `unknown_name`. */
export function checkBranch(name: string): string {
  const bad =
    name.length > MAX_BRANCH ||
    !BRANCH.test(name) ||
    /\.\.|\/\/|\.lock(\/|$)|[./]$|\/\./.test(name) ||
    /^[0-9a-f]{40}$/.test(name);
  if (!bad) return name;
  throw new InputError(
    'unknown_name',
    `Expected --branch to be the name of a branch, such as main, not a commit: at most ${MAX_BRANCH} letters, digits and ` +
      `_ - . /, a letter, digit or _ first, no .., // or /., no part that ends with .lock, and no . or / at the end; ` +
      `got ${JSON.stringify(name.slice(0, MAX_BRANCH))}. Pass the name of a branch.`,
  );
}
