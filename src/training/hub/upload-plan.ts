/** Plans an upload: which files are new, which differ, and which are there already. */
import { InputError } from '../../shared/errors.js';
import type { Connection } from './connection.js';
import { HubError } from './hub-errors.js';
import { type Inspection, inspect, type Naming, type Reading } from './inspect.js';
import type { LocalFile } from './local-files.js';
import { filesAt, type Remote, type RemoteFile } from './remote.js';
import type { Repo } from './repo.js';

export interface PlannedFile {
  readonly file: LocalFile;
  readonly change: 'new' | 'changed' | 'same';
  /** What stands in its place. */
  readonly there: RemoteFile | null;
  readonly inspection: Inspection;
}

export interface UploadRequest {
  readonly repo: Repo;
  readonly branch: string;
  /** Whether it must not be public; one that is there may be private without it. */
  readonly private: boolean;
  readonly files: readonly LocalFile[];
}

export interface UploadPlan extends UploadRequest {
  readonly remote: Remote;
  readonly planned: readonly PlannedFile[];
}

/** Files that are not at the Hub as they are here. */
export const toSend = (planned: readonly PlannedFile[]): PlannedFile[] =>
  planned.filter(({ change }) => change !== 'same');

/**
 * @param before what was planned earlier for the same files: those that are there as they were are not read again.
 * @throws InputError for a file that holds the token; HubError; the signal's reason.
 */
export async function planFiles(
  connection: Connection,
  { repo, files }: Pick<UploadRequest, 'repo' | 'files'>,
  remote: Remote,
  reading: Reading,
  before: readonly PlannedFile[] = [],
): Promise<PlannedFile[]> {
  const paths = files.map(({ target }) => target);
  const there =
    remote.base === null
      ? new Map<string, RemoteFile>()
      : await filesAt(connection, repo, remote.base, paths);
  const planned: PlannedFile[] = [];
  for (const [k, file] of files.entries()) {
    const now = there.get(file.target) ?? null;
    const known = before[k]?.there?.oid === now?.oid ? before[k] : undefined;
    planned.push(known ?? (await planOne(file, now, connection.token, reading)));
  }
  return planned;
}

async function planOne(
  file: LocalFile,
  there: RemoteFile | null,
  token: string | null,
  reading: Reading,
): Promise<PlannedFile> {
  // Of another size, it differs whatever its name is.
  const naming: Naming | null = there?.size === file.blob.size ? there.naming : null;
  const inspection = await inspectUnchanged(file, naming, token, reading);
  if (inspection.holdsToken) refuseToken(file);
  const same = naming !== null && inspection.oid === there?.oid;
  return { file, change: there === null ? 'new' : same ? 'same' : 'changed', there, inspection };
}

function refuseToken({ source }: LocalFile): never {
  throw new InputError(
    'out_of_range',
    `Expected files without the token in them, but ${JSON.stringify(source)} holds it: whoever reads it could write in your ` +
      'name. Remove it there, and revoke it if it was ever published.',
  );
}

async function inspectUnchanged(
  file: LocalFile,
  naming: Naming | null,
  token: string | null,
  reading: Reading,
): Promise<Inspection> {
  try {
    return await inspect(file, naming, token, reading);
  } catch (error) {
    if ((error as Error).name !== 'NotReadableError') throw error;
    throw new HubError(
      `Expected ${JSON.stringify(file.source)} to stay as it is and to be readable, but it was changed, removed or may not be ` +
        'read. Nothing was uploaded. Run the same command again when nobody writes to it.',
    );
  }
}
