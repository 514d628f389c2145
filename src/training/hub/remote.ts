/** Reads the state of a repository of the Hub: a branch and its files. */
import { type Connection, commonParams } from './connection.js';
import { HubError, isStatus } from './hub-errors.js';
import type { HashKind } from './inspect-file.js';
import { redacted } from './redact.js';
import type { Repo } from './repo.js';

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
