/** Commits all changed files as one commit. */
import type { CommitOperation, CommitOutput, CommitProgressEvent } from '@huggingface/hub';
import { type Connection, commonParams } from './connection.js';
import { HubError, isStatus } from './hub-errors.js';
import { readRemote } from './remote.js';
import { repoUrl } from './repo.js';
import { changedFiles, type PlannedFile, planFiles, type UploadPlan } from './upload-plan.js';

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
