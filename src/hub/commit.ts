/** One commit of all that differs. Either it is made whole, or nothing of it is seen. */
import type { CommitOperation } from '@huggingface/hub';
import { type Connection, common } from './connection.js';
import { HubError, isStatus } from './errors.js';
import { type PlannedFile, planFiles, toSend, type UploadPlan } from './plan.js';
import { lookAt } from './remote.js';
import { repoUrl } from './repo.js';

/** How often others may commit meanwhile. */
const CONFLICTS = 5;

export interface CommitMessage {
  readonly title: string;
  readonly description?: string;
}

/** @throws HubError, also where somebody else has committed to one of the same files meanwhile; the signal's reason. */
export async function commitFiles(
  connection: Connection,
  plan: UploadPlan,
  message: CommitMessage,
  signal: AbortSignal,
): Promise<string | null> {
  let current = plan;
  for (let conflicts = 0; ; conflicts++) {
    const sent = toSend(current.planned);
    if (sent.length === 0) return null;
    try {
      return await commitOnce(connection, current, sent, message, signal);
    } catch (error) {
      if (!isStatus(error, 412) || conflicts === CONFLICTS) throw error;
      current = await planAgain(connection, current, signal);
    }
  }
}

/**
 * The plan after somebody has committed: perhaps this very commit, whose answer was lost.
 * @throws HubError where another has changed what would be overwritten.
 */
async function planAgain(connection: Connection, plan: UploadPlan, signal: AbortSignal): Promise<UploadPlan> {
  const { repo, branch, files } = plan;
  const remote = await lookAt(connection, repo, branch);
  const planned = await planFiles(connection, repo, remote, files, signal, plan.planned);
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
  { title, description }: CommitMessage,
  signal: AbortSignal,
): Promise<string> {
  const operations: CommitOperation[] = [];
  for (const { file } of sent) {
    operations.push({ operation: 'addOrUpdate', path: file.target, content: await contentOf(file.blob) });
  }
  const commit = await connection.library.commit({
    ...common(connection),
    ...{ repo, branch, title, description },
    // So that files which came between are seen, and an attempt whose answer was lost makes no second commit.
    parentCommit: remote.head ?? undefined,
    operations,
    abortSignal: signal,
    // By LFS, which the Hub keeps for clients without Xet (huggingface.co/docs/hub/xet/legacy-git-lfs), a file is there as
    // soon as it was sent, and known by its SHA-256: what was interrupted goes on. By Xet the library registers the files
    // of a batch together, at its end.
    useXet: false,
  });
  const url: unknown = commit?.commit.url;
  return typeof url === 'string' ? url : repoUrl(connection.endpoint, repo);
}

/** Bytes. */
const SMALL = 1e5;

/** Small files are read here, one after the other: the library would open all of them at once, more than a system allows. */
const contentOf = async (blob: Blob): Promise<Blob> =>
  blob.size > SMALL ? blob : new Blob([await blob.arrayBuffer()]);
