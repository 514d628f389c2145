/** Reads the state of a repository at the Hub: its branch and its files. */
import { type Connection, common } from './connection.js';
import { HubError, isStatus } from './hub-errors.js';
import { redacted } from './redact.js';
import type { Repo } from './repo.js';

/** A repository as it was when it was looked at. */
export interface Remote {
  /** False also for one that the token may not see. */
  readonly exists: boolean;
  readonly private: boolean | null;
  /** The branch's last commit; null where there is no such branch. */
  readonly head: string | null;
  /** What the next commit comes after: the head, or that of the default branch, where a new one begins. */
  readonly base: string | null;
}

/** A file at the Hub. */
export interface RemoteFile {
  readonly size: number;
  /** Of large files SHA-256, of others git's. */
  readonly naming: 'git' | 'sha256';
  readonly oid: string;
}

const NOT_THERE: Remote = { exists: false, private: null, head: null, base: null };

/** @throws HubError for refusals, other than that there is none. */
export async function lookAt(connection: Connection, repo: Repo, branch: string): Promise<Remote> {
  try {
    return await infoOf(connection, repo, branch);
  } catch (error) {
    if (isStatus(error, 404) && error.hubCode === 'RevisionNotFound') {
      return { ...(await infoOf(connection, repo)), head: null };
    }
    // Whoever shows no token is told 401 of what is not there, or not public.
    if (isStatus(error, 404) || (isStatus(error, 401) && connection.token === null)) return NOT_THERE;
    throw error;
  }
}

async function infoOf(connection: Connection, { type, name }: Repo, revision?: string): Promise<Remote> {
  const { datasetInfo, modelInfo } = connection.library;
  const params = { ...common(connection), name, revision, additionalFields: ['sha'] as ['sha'] };
  const info = type === 'dataset' ? await datasetInfo(params) : await modelInfo(params);
  if (typeof info.name === 'string' && info.name.toLowerCase() !== name.toLowerCase()) {
    throw new HubError(
      `Expected ${type} ${name}, got ${JSON.stringify(redacted(info.name, connection.token))}: it was renamed. Pass that to --repo.`,
    );
  }
  const head = typeof info.sha === 'string' ? info.sha : null;
  return { exists: true, private: Boolean(info.private), head, base: head };
}

/** How many paths are asked for at once. */
const MANY = 100;

/** Those of the paths that are there, by path. @throws HubError also for a directory where a file is to go. */
export async function filesAt(
  connection: Connection,
  repo: Repo,
  revision: string,
  paths: readonly string[],
): Promise<Map<string, RemoteFile>> {
  const files = new Map<string, RemoteFile>();
  for (let first = 0; first < paths.length; first += MANY) {
    const some = paths.slice(first, first + MANY);
    const infos = await connection.library.pathsInfo({
      ...common(connection),
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
        lfs ? { size: lfs.size, naming: 'sha256', oid: lfs.oid } : { size, naming: 'git', oid: oid ?? '' },
      );
    }
  }
  return files;
}
