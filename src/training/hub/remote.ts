/** Reads the state of a repository of the Hub: a branch and its files. */
import { InputError } from '../../shared/errors.js';
import { type Connection, commonParams } from './connection.js';
import { HubError, isStatus, redacted } from './hub-errors.js';
import type { HashKind } from './inspect-file.js';

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

/** The state of a repository when it was read. */
export interface Remote {
  /** Whether the repository exists and the token has access to it. */
  readonly exists: boolean;
  /** Whether the repository is private; null if it does not exist. */
  readonly private: boolean | null;
  /** The last commit of the branch; null if the branch does not exist. */
  readonly head: string | null;
  /** The parent of the next commit: the head; for a new branch, the head of the default branch. */
  readonly base: string | null;
}

/** A file of the repository. */
export interface RemoteFile {
  /** In bytes. */
  readonly size: number;
  readonly hashKind: HashKind;
  /** The hash of the content, of the kind `hashKind`, in hexadecimal. */
  readonly oid: string;
}

const MISSING: Remote = { exists: false, private: null, head: null, base: null };

/** Reads the state of a repository. @throws HubError, but not for a missing repository or branch. */
export async function readRemote(connection: Connection, repo: Repo, branch: string): Promise<Remote> {
  try {
    return await infoOf(connection, repo, branch);
  } catch (error) {
    if (isStatus(error, 404) && error.hubCode === 'RevisionNotFound') {
      return { ...(await infoOf(connection, repo)), head: null };
    }
    // Without a token, the Hub answers 401 for a missing or private repository.
    if (isStatus(error, 404) || (isStatus(error, 401) && connection.token === null)) return MISSING;
    throw error;
  }
}

async function infoOf(connection: Connection, { type, name }: Repo, revision?: string): Promise<Remote> {
  const { datasetInfo, modelInfo } = connection.library;
  const params = { ...commonParams(connection), name, revision, additionalFields: ['sha'] as ['sha'] };
  const info = type === 'dataset' ? await datasetInfo(params) : await modelInfo(params);
  if (typeof info.name === 'string' && info.name.toLowerCase() !== name.toLowerCase()) {
    throw new HubError(
      `Expected ${type} ${name}, got ${JSON.stringify(redacted(info.name, connection.token))}: it was renamed. Pass the new name to --repo.`,
    );
  }
  const head = typeof info.sha === 'string' ? info.sha : null;
  return { exists: true, private: Boolean(info.private), head, base: head };
}

/** The maximum number of paths per request, chosen by hand. */
const PATHS_PER_REQUEST = 100;

/** Returns the existing files among the paths, by path. @throws HubError, also if a path is a directory. */
export async function filesAt(
  connection: Connection,
  repo: Repo,
  revision: string,
  paths: readonly string[],
): Promise<Map<string, RemoteFile>> {
  const files = new Map<string, RemoteFile>();
  for (let first = 0; first < paths.length; first += PATHS_PER_REQUEST) {
    const some = paths.slice(first, first + PATHS_PER_REQUEST);
    const infos = await connection.library.pathsInfo({
      ...commonParams(connection),
      repo,
      revision,
      paths: [...some],
    });
    for (const { path, type, size, oid, lfs } of infos) {
      if (type !== 'file') {
        throw new HubError(
          `Expected ${JSON.stringify(redacted(path, connection.token))} of ${repo.name} to be a file, got a ${redacted(type, connection.token)}. Pass another --path-in-repo.`,
        );
      }
      files.set(
        path,
        lfs
          ? { size: lfs.size, hashKind: 'sha256', oid: lfs.oid }
          : { size, hashKind: 'git', oid: oid ?? '' },
      );
    }
  }
  return files;
}
