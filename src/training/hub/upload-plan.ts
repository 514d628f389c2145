/** Plans an upload: compares local files with those of the repository. */
import { InputError } from '../../shared/errors.js';
import type { Connection } from './connection.js';
import { HubError } from './hub-errors.js';
import { type HashKind, type Inspection, inspect, type ReadOptions } from './inspect-file.js';
import type { LocalFile } from './local-files.js';
import { filesAt, type Remote, type RemoteFile } from './remote.js';
import type { Repo } from './repo.js';

/** A local file, compared with the repository. */
export interface PlannedFile {
  readonly file: LocalFile;
  /** 'unknown' if the repository was not read. */
  readonly change: 'new' | 'changed' | 'same' | 'unknown';
  /** The file of the repository with the same path; null if there is none, or if the repository was not read. */
  readonly remote: RemoteFile | null;
  readonly inspection: Inspection;
}

export interface UploadRequest {
  readonly repo: Repo;
  readonly branch: string;
  /** Whether the repository must be private. If false, an existing private repository is accepted too. */
  readonly private: boolean;
  readonly files: readonly LocalFile[];
}

/** A request, the state of the repository, and the comparison of each file. */
export interface UploadPlan extends UploadRequest {
  readonly remote: Remote;
  readonly planned: readonly PlannedFile[];
}

/** Returns the files that are new or may differ. */
export const changedFiles = (planned: readonly PlannedFile[]): PlannedFile[] =>
  planned.filter(({ change }) => change !== 'same');

/**
 * Compares files with the repository.
 * @param before an earlier plan of the same files. A file is not read again if its remote file has not changed since.
 * @throws InputError for a file that contains the token; HubError; the signal's reason.
 */
export async function planFiles(
  connection: Connection,
  { repo, files }: Pick<UploadRequest, 'repo' | 'files'>,
  remote: Remote,
  reading: ReadOptions,
  before: readonly PlannedFile[] = [],
): Promise<PlannedFile[]> {
  const paths = files.map(({ target }) => target);
  const remoteFiles =
    remote.base === null
      ? new Map<string, RemoteFile>()
      : await filesAt(connection, repo, remote.base, paths);
  const planned: PlannedFile[] = [];
  for (const [k, file] of files.entries()) {
    const remoteFile = remoteFiles.get(file.target) ?? null;
    const earlier = before[k]?.remote?.oid === remoteFile?.oid ? before[k] : undefined;
    planned.push(earlier ?? (await planOne(file, remoteFile, connection.token, reading)));
  }
  return planned;
}

/** Lists files without reading the repository. @throws as `planFiles`. */
export async function listFiles(
  token: string | null,
  files: readonly LocalFile[],
  reading: ReadOptions,
): Promise<PlannedFile[]> {
  const listed: PlannedFile[] = [];
  for (const file of files) {
    listed.push({ ...(await planOne(file, null, token, reading)), change: 'unknown' });
  }
  return listed;
}

async function planOne(
  file: LocalFile,
  remote: RemoteFile | null,
  token: string | null,
  reading: ReadOptions,
): Promise<PlannedFile> {
  // A file of another size differs, so it needs no hash.
  const kind: HashKind | null = remote?.size === file.blob.size ? remote.hashKind : null;
  const inspection = await inspectUnchanged(file, kind, token, reading);
  if (inspection.holdsToken) refuseToken(file);
  const same = kind !== null && inspection.oid === remote?.oid;
  return { file, change: remote === null ? 'new' : same ? 'same' : 'changed', remote, inspection };
}

function refuseToken({ source }: LocalFile): never {
  throw new InputError(
    'out_of_range',
    `Expected files without the token, but ${JSON.stringify(source)} contains it: anyone who reads the file could write to the Hub in your name. ` +
      'Remove the token from the file, and revoke it if it was ever published.',
  );
}

/** Inspects a file. @throws HubError if the file changed or cannot be read. */
async function inspectUnchanged(
  file: LocalFile,
  kind: HashKind | null,
  token: string | null,
  reading: ReadOptions,
): Promise<Inspection> {
  try {
    return await inspect(file, kind, token, reading);
  } catch (error) {
    if ((error as Error).name !== 'NotReadableError') throw error;
    throw new HubError(
      `Expected ${JSON.stringify(file.source)} to be readable and not to change, but it changed or cannot be read. Nothing was ` +
        'uploaded. Run the same command again when no process writes to it.',
    );
  }
}
