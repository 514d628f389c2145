/** Uploads to the Hub: reads the repository, creates it or the branch if missing, and commits the changed files. */
import { type CommitOptions, commitFiles, planFiles, type UploadPlan, type UploadRequest } from './commit.js';
import { type Connection, commonParams } from './connection.js';
import { HubError, isStatus } from './hub-errors.js';
import type { ReadOptions } from './inspect-file.js';
import { type Remote, type Repo, readRemote, repoText } from './remote.js';

/** Plans an upload. Changes nothing at the Hub. @throws HubError, InputError; the signal's reason. */
export async function planUpload(
  connection: Connection,
  request: UploadRequest,
  reading: ReadOptions,
): Promise<UploadPlan> {
  const { repo, branch } = request;
  const remote = await readRemote(connection, repo, branch);
  if (remote.exists && request.private && !remote.private) {
    throw new HubError(
      `Expected ${repoText(repo)} to be private, as --private demands, but it exists and is public. Leave out --private, or make ` +
        'it private on its settings page first.',
    );
  }
  return { ...request, remote, planned: await planFiles(connection, request, remote, reading) };
}

/**
 * Executes a plan. A created repository or branch remains if a later request fails.
 * @returns the commit's URL; null if no file differs any more.
 * @throws HubError; InputError for a file that contains the token; the signal's reason.
 */
export async function executePlan(
  connection: Connection,
  plan: UploadPlan,
  options: CommitOptions,
): Promise<string | null> {
  const remote = await ensureBranch(connection, plan);
  const moved = remote.base !== plan.remote.base;
  const planned = moved
    ? await planFiles(connection, plan, remote, { signal: options.signal }, plan.planned)
    : plan.planned;
  return commitFiles(connection, { ...plan, remote, planned }, options);
}

/** Creates the repository and the branch if they are missing. @returns their state. */
async function ensureBranch(
  connection: Connection,
  { repo, branch, remote, ...plan }: UploadPlan,
): Promise<Remote> {
  if (remote.exists && remote.head !== null) return remote;
  if (!remote.exists) await createRepo(connection, repo, plan.private);
  let now = await readRemote(connection, repo, branch);
  if (!now.exists)
    throw new HubError(
      `Expected ${repoText(repo)} to exist after its creation, but it does not. Try again later.`,
    );
  if (plan.private && !now.private) {
    throw new HubError(
      `Expected ${repoText(repo)} to be private after its creation, but it is public. Nothing was uploaded. Make it private on its settings page.`,
    );
  }
  if (now.head === null) {
    await createBranch(connection, repo, branch);
    now = await readRemote(connection, repo, branch);
  }
  return now;
}

async function createRepo(connection: Connection, repo: Repo, isPrivate: boolean): Promise<void> {
  const { token, endpoint, fetch, library } = connection;
  const visibility = isPrivate ? 'private' : undefined;
  await unlessItExists(
    library.createRepo({ repo, visibility, hubUrl: endpoint, fetch, accessToken: token! }),
  );
}

async function createBranch(connection: Connection, repo: Repo, branch: string): Promise<void> {
  await unlessItExists(connection.library.createBranch({ ...commonParams(connection), repo, branch }));
}

/** Awaits a creation. Ignores status 409: the repository or branch exists, because of an earlier attempt or another client. */
async function unlessItExists(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
  }
}
