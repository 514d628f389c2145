/** Commits all changed files as one commit. */
import type { CommitOperation, CommitOutput, CommitProgressEvent } from '@huggingface/hub';
import { InputError } from '../../shared/errors.js';
import { type Connection, commonParams } from './connection.js';
import { HubError, isStatus } from './hub-errors.js';
import { type HashKind, type Inspection, inspect, type ReadOptions } from './inspect-file.js';
import type { LocalFile } from './local-files.js';
import { filesAt, type Remote, type RemoteFile, type Repo, readRemote, repoUrl } from './remote.js';

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

/** The maximum number of retries after a conflict with another commit. Chosen by hand: each retry plans the upload again. */
const MAX_CONFLICTS = 5;

export interface CommitMessage {
  readonly title: string;
  readonly description?: string;
}

export interface CommitOptions {
  readonly message: CommitMessage;
  readonly signal: AbortSignal;
  /** Called with the number of bytes hashed since the last call. Large files are hashed before they are sent. */
  readonly onHashed?: (bytes: number) => void;
}

/**
 * Commits the changed files of a plan. Plans again if another commit was made meanwhile.
 * @returns the commit's URL; null if no file differs any more.
 * @throws HubError, also if another commit changed one of these files; the signal's reason.
 */
export async function commitFiles(
  connection: Connection,
  plan: UploadPlan,
  options: CommitOptions,
): Promise<string | null> {
  let current = plan;
  for (let conflicts = 0; ; conflicts++) {
    const changed = changedFiles(current.planned);
    if (changed.length === 0) return null;
    try {
      return await commitOnce(connection, current, changed, options);
    } catch (error) {
      if (!isStatus(error, 412) || conflicts === MAX_CONFLICTS) throw error;
      current = await replan(connection, current, options.signal);
    }
  }
}

/**
 * Plans again after another commit, which may be an earlier attempt of this upload whose answer was lost.
 * @throws HubError if the other commit changed a file that this plan would overwrite.
 */
async function replan(connection: Connection, plan: UploadPlan, signal: AbortSignal): Promise<UploadPlan> {
  const remote = await readRemote(connection, plan.repo, plan.branch);
  const planned = await planFiles(connection, plan, remote, { signal }, plan.planned);
  const conflict = planned.find((now, k) => now.change !== 'same' && differs(now, plan.planned[k]));
  if (conflict === undefined) return { ...plan, remote, planned };
  throw new HubError(
    `Expected ${JSON.stringify(conflict.file.target)} to be unchanged at the Hub, but another commit changed it during the ` +
      'upload. Nothing was committed. Check that commit, and run the same command again to replace the file.',
    { status: 412 },
  );
}

const differs = (now: PlannedFile, before: PlannedFile): boolean => now.remote?.oid !== before.remote?.oid;

async function commitOnce(
  connection: Connection,
  { repo, branch, remote }: UploadPlan,
  changed: readonly PlannedFile[],
  { message, signal, onHashed = () => {} }: CommitOptions,
): Promise<string> {
  const operations: CommitOperation[] = [];
  for (const { file } of changed) {
    operations.push({ operation: 'addOrUpdate', path: file.target, content: await contentOf(file.blob) });
  }
  const events = connection.library.commitIter({
    ...commonParams(connection),
    repo,
    branch,
    ...message,
    // The Hub refuses the commit if the branch has another head: after a commit of somebody else, or of an earlier
    // attempt whose answer was lost.
    parentCommit: remote.head ?? undefined,
    operations,
    abortSignal: signal,
    // With LFS, which the Hub supports for clients without Xet (huggingface.co/docs/hub/xet/legacy-git-lfs), the Hub
    // has a file as soon as it was sent, and finds it by its SHA-256. So an interrupted upload resumes. With Xet the library
    // registers the files of a batch together, at the end.
    useXet: false,
  });
  const commit = await drain(events, hashProgress(changed, onHashed));
  const url: unknown = commit?.commit.url;
  return typeof url === 'string' ? url : repoUrl(connection.endpoint, repo);
}

/** Runs a commit to its end, and calls `onEvent` with each event. @returns the commit. */
async function drain(
  events: AsyncGenerator<CommitProgressEvent, CommitOutput | undefined>,
  onEvent: (event: CommitProgressEvent) => void,
): Promise<CommitOutput | undefined> {
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
    onEvent(value);
  }
}

/** Converts the library's progress, a share of each large file, to bytes that were hashed since the last event. */
function hashProgress(changed: readonly PlannedFile[], onHashed: (bytes: number) => void) {
  const sizes = new Map(changed.map(({ file }) => [file.target, file.blob.size]));
  const hashed = new Map<string, number>();
  return (event: CommitProgressEvent): void => {
    if (event.event !== 'fileProgress' || event.state !== 'hashing') return;
    const bytes = Math.round(event.progress * (sizes.get(event.path) ?? 0));
    onHashed(bytes - (hashed.get(event.path) ?? 0));
    hashed.set(event.path, bytes);
  };
}

/** The maximum size of a small file, in bytes. Chosen by hand: small files are held in memory until the commit ends. */
const MAX_SMALL = 1e5;

/**
 * Returns the content to commit. Reads a small file into memory, because the library opens all files at once, which can
 * exceed the system's limit of open files.
 */
const contentOf = async (blob: Blob): Promise<Blob> =>
  blob.size > MAX_SMALL ? blob : new Blob([await blob.arrayBuffer()]);
