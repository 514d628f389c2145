/** Commits all changed files at once: the commit is made whole or not at all. */
import type { CommitOperation, CommitOutput, CommitProgressEvent } from '@huggingface/hub';
import { type Connection, common } from './connection.js';
import { HubError, isStatus } from './hub-errors.js';
import { lookAt } from './remote.js';
import { repoUrl } from './repo.js';
import { type PlannedFile, planFiles, toSend, type UploadPlan } from './upload-plan.js';

/** How often others may commit meanwhile. */
const CONFLICTS = 5;

export interface CommitMessage {
  readonly title: string;
  readonly description?: string;
}

export interface CommitOptions {
  readonly message: CommitMessage;
  readonly signal: AbortSignal;
  /** Told of the bytes of large files as they are hashed, before they are sent. */
  readonly onHashed?: (bytes: number) => void;
}

/**
 * @throws HubError, also where somebody else has committed to one of the same files meanwhile; the signal's reason.
 */
export async function commitFiles(
  connection: Connection,
  plan: UploadPlan,
  options: CommitOptions,
): Promise<string | null> {
  let current = plan;
  for (let conflicts = 0; ; conflicts++) {
    const sent = toSend(current.planned);
    if (sent.length === 0) return null;
    try {
      return await commitOnce(connection, current, sent, options);
    } catch (error) {
      if (!isStatus(error, 412) || conflicts === CONFLICTS) throw error;
      current = await planAgain(connection, current, options.signal);
    }
  }
}

/**
 * The plan after somebody has committed: perhaps this very commit, whose answer was lost.
 * @throws HubError where another has changed what would be overwritten.
 */
async function planAgain(connection: Connection, plan: UploadPlan, signal: AbortSignal): Promise<UploadPlan> {
  const remote = await lookAt(connection, plan.repo, plan.branch);
  const planned = await planFiles(connection, plan, remote, { signal }, plan.planned);
  const stolen = planned.find((now, k) => now.change !== 'same' && differs(now, plan.planned[k]));
  if (stolen === undefined) return { ...plan, remote, planned };
  throw new HubError(
    `Expected nobody to change ${JSON.stringify(stolen.file.target)} meanwhile, but a commit has. Nothing was committed. Look at ` +
      'it, and run the same command again to put yours in its place.',
    { status: 412 },
  );
}

const differs = (now: PlannedFile, before: PlannedFile): boolean => now.there?.oid !== before.there?.oid;

async function commitOnce(
  connection: Connection,
  { repo, branch, remote }: UploadPlan,
  sent: readonly PlannedFile[],
  { message, signal, onHashed = () => {} }: CommitOptions,
): Promise<string> {
  const operations: CommitOperation[] = [];
  for (const { file } of sent) {
    operations.push({ operation: 'addOrUpdate', path: file.target, content: await contentOf(file.blob) });
  }
  const events = connection.library.commitIter({
    ...common(connection),
    ...{ repo, branch, ...message },
    // So that files which came between are seen, and an attempt whose answer was lost makes no second commit.
    parentCommit: remote.head ?? undefined,
    operations,
    abortSignal: signal,
    // By LFS, which the Hub keeps for clients without Xet (huggingface.co/docs/hub/xet/legacy-git-lfs), a file is
    // there as soon as it was sent, and known by its SHA-256: what was interrupted goes on. By Xet the library
    // registers the files of a batch together, at its end.
    useXet: false,
  });
  const commit = await followed(events, hashingOf(sent, onHashed));
  const url: unknown = commit?.commit.url;
  return typeof url === 'string' ? url : repoUrl(connection.endpoint, repo);
}

/** What a commit comes to, which the library's `commit` gives without what it tells meanwhile. */
async function followed(
  events: AsyncGenerator<CommitProgressEvent, CommitOutput | undefined>,
  follow: (event: CommitProgressEvent) => void,
): Promise<CommitOutput | undefined> {
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
    follow(value);
  }
}

/** The library reads large files once more before it sends them. It tells which part of each is done. */
function hashingOf(sent: readonly PlannedFile[], onHashed: (bytes: number) => void) {
  const sizes = new Map(sent.map(({ file }) => [file.target, file.blob.size]));
  const hashed = new Map<string, number>();
  return (event: CommitProgressEvent): void => {
    if (event.event !== 'fileProgress' || event.state !== 'hashing') return;
    const bytes = Math.round(event.progress * (sizes.get(event.path) ?? 0));
    onHashed(bytes - (hashed.get(event.path) ?? 0));
    hashed.set(event.path, bytes);
  };
}

/** Bytes. */
const SMALL = 1e5;

/**
 * Small files are read here, one after the other: the library would open all of them at once, more than a system
 * allows.
 */
const contentOf = async (blob: Blob): Promise<Blob> =>
  blob.size > SMALL ? blob : new Blob([await blob.arrayBuffer()]);
