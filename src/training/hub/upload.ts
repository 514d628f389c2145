/** Uploads to the Hub: reads the remote state, creates what is missing, and commits changed files at once. */
import { type CommitOptions, commitFiles } from './commit.js';
import { type Connection, common } from './connection.js';
import { HubError, isStatus } from './hub-errors.js';
import type { Reading } from './inspect.js';
import { lookAt, type Remote } from './remote.js';
import { type Repo, repoText } from './repo.js';
import { planFiles, type UploadPlan, type UploadRequest } from './upload-plan.js';

/** Asks nothing that changes anything. @throws HubError, InputError; the signal's reason. */
export async function planUpload(
  connection: Connection,
  request: UploadRequest,
  reading: Reading,
): Promise<UploadPlan> {
  const { repo, branch } = request;
  const remote = await lookAt(connection, repo, branch);
  if (remote.exists && request.private && !remote.private) {
    throw new HubError(
      `Expected ${repoText(repo)} to be private, as --private wants it, but it is there and public. Leave out --private, or ` +
        'make it private on its settings page first.',
    );
  }
  return { ...request, remote, planned: await planFiles(connection, request, remote, reading) };
}

/**
 * Does what the plan says. A repository that is created stays, whatever comes after.
 * @returns the commit's address, as the Hub says it; null where none was needed any more.
 * @throws HubError; the signal's reason.
 */
export async function carryOut(
  connection: Connection,
  plan: UploadPlan,
  options: CommitOptions,
): Promise<string | null> {
  const remote = await makeReady(connection, plan);
  const moved = remote.base !== plan.remote.base;
  const planned = moved
    ? await planFiles(connection, plan, remote, { signal: options.signal }, plan.planned)
    : plan.planned;
  return commitFiles(connection, { ...plan, remote, planned }, options);
}

/** Creates the repository and the branch where they are missing. */
async function makeReady(
  connection: Connection,
  { repo, branch, remote, ...plan }: UploadPlan,
): Promise<Remote> {
  if (remote.exists && remote.head !== null) return remote;
  if (!remote.exists) await createRepo(connection, repo, plan.private);
  let now = await lookAt(connection, repo, branch);
  if (!now.exists)
    throw new HubError(`Expected ${repoText(repo)} to be there once created, got none. Try again later.`);
  if (plan.private && !now.private) {
    throw new HubError(
      `Expected ${repoText(repo)} to be private once created, but it is public. Nothing was uploaded.`,
    );
  }
  if (now.head === null) {
    await createBranch(connection, repo, branch);
    now = await lookAt(connection, repo, branch);
  }
  return now;
}

async function createRepo(connection: Connection, repo: Repo, isPrivate: boolean): Promise<void> {
  const { token, endpoint, fetch, library } = connection;
  const visibility = isPrivate ? 'private' : undefined;
  await unlessThere(library.createRepo({ repo, visibility, hubUrl: endpoint, fetch, accessToken: token! }));
}

async function createBranch(connection: Connection, repo: Repo, branch: string): Promise<void> {
  await unlessThere(connection.library.createBranch({ ...common(connection), repo, branch }));
}

/** What an attempt whose answer was lost, or somebody else, has created meanwhile is as good. */
async function unlessThere(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
  }
}
