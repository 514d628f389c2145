/** Validates names on the Hub before a request is made. */
import { InputError } from '../../shared/errors.js';

export const REPO_TYPES = ['dataset', 'model'] as const;
export type RepoType = (typeof REPO_TYPES)[number];

export interface Repo {
  readonly type: RepoType;
  /** USER/NAME. */
  readonly name: string;
}

const MAX_NAME = 96;
const PART = /^[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?$/;

/** @throws InputError `unknown_name`. */
export function checkRepo(type: RepoType, name: string): Repo {
  const parts = name.split('/');
  const legal =
    parts.length === 2 &&
    parts.every((part) => PART.test(part)) &&
    name.length <= MAX_NAME &&
    !/--|\.\.|\.git$/.test(name);
  if (legal) return { type, name };
  const typed =
    ['datasets', 'models', 'spaces', 'dataset', 'model'].includes(parts[0]) || name.includes('://');
  throw new InputError(
    'unknown_name',
    `Expected --repo to be USER/NAME: letters, digits, - _ . within, at most ${MAX_NAME} characters, no -- or .. and no .git ` +
      `at the end; got ${JSON.stringify(name.slice(0, 2 * MAX_NAME))}.` +
      (typed ? ' Leave out all but USER/NAME: --type says what it is.' : ' Pass such a name.'),
  );
}

/** What people call it. */
export const repoText = ({ type, name }: Repo): string => `${type} ${name}`;

/** Where it is to be seen. */
export const repoUrl = (endpoint: string, { type, name }: Repo): string =>
  `${endpoint}/${type === 'dataset' ? 'datasets/' : ''}${name}`;

const BRANCH = /^[A-Za-z0-9_][\w./-]{0,199}$/;

/** @throws InputError `unknown_name`. */
export function checkBranch(name: string): string {
  const bad =
    !BRANCH.test(name) || /\.\.|\/\/|\.lock(\/|$)|[./]$|\/\./.test(name) || /^[0-9a-f]{40}$/.test(name);
  if (!bad) return name;
  throw new InputError(
    'unknown_name',
    `Expected --branch to be a branch's name, such as main, and no commit; got ${JSON.stringify(name.slice(0, 200))}. Pass one.`,
  );
}
