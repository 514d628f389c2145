/** Uploads to the Hub: compares files with a repository, creates it or the branch if missing, and commits what differs. */
import type { CommitOperation, PathInfo } from '@huggingface/hub';
import { type Repo, repoText, repoUrl } from './account.js';
import type { Connection } from './connection.js';
import { HubError, isStatus, redacted, unreadable } from './hub-errors.js';
import { type Inspection, inspect, type ReadOptions } from './inspect-file.js';
import type { LocalFile } from './local-files.js';

export interface UploadRequest {
  readonly repo: Repo;
  readonly branch: string;
  /** Whether the repository must be private. If false, an existing private repository is accepted too. */
  readonly private: boolean;
  readonly files: readonly LocalFile[];
}

/** The state of a repository when it was read. */
interface Remote {
  /** Whether the repository is private; null if it does not exist, or the token has no access to it. */
  readonly private: boolean | null;
  /** The last commit of the branch; null if the branch does not exist. */
  readonly head: string | null;
  /** The parent of the next commit: the head; for a new branch, the head of the default branch; null without either. */
  readonly base: string | null;
}

/** A local file, compared with the repository. */
export interface PlannedFile {
  readonly file: LocalFile;
  /** 'unknown' if the repository was not read. */
  readonly change: 'new' | 'changed' | 'same' | 'unknown';
  readonly inspection: Inspection;
}

/** A request, the state of the repository, and the comparison of each file. */
export interface UploadPlan extends UploadRequest {
  readonly remote: Remote;
  readonly planned: readonly PlannedFile[];
}

/** Returns the files that are new or may differ. */
export const changedFiles = (planned: readonly PlannedFile[]): PlannedFile[] =>
  planned.filter(({ change }) => change !== 'same');

/** Compares files with the repository, and changes nothing there. @throws HubError; as `inspect`. */
export async function planUpload(
  connection: Connection,
  request: UploadRequest,
  reading: ReadOptions,
): Promise<UploadPlan> {
  const remote = await readRemote(connection, request);
  const remoteFiles = await filesAt(connection, request, remote.base);
  return {
    ...request,
    remote,
    planned: await planFiles(request.files, remoteFiles, connection.token, reading),
  };
}

/** Inspects files, and compares them with those of the repository by path; null if it was not read. @throws as `inspect`. */
export async function planFiles(
  files: readonly LocalFile[],
  remoteFiles: ReadonlyMap<string, PathInfo> | null,
  token: string | null,
  reading: ReadOptions,
): Promise<PlannedFile[]> {
  const planned: PlannedFile[] = [];
  for (const file of files) {
    const info = remoteFiles?.get(file.target);
    // The Hub has the SHA-256 of a large file. A file of another size differs, so it needs no hash.
    const remote = info?.lfs ?? info;
    const kind = remote?.size !== file.blob.size ? null : info?.lfs ? 'sha256' : 'git';
    const inspection = await inspect(file, kind, token, reading).catch((error) => {
      throw error.name === 'NotReadableError' ? unreadable(JSON.stringify(file.source)) : error;
    });
    const same = kind !== null && inspection.oid === remote?.oid ? 'same' : 'changed';
    planned.push({ file, change: remoteFiles === null ? 'unknown' : info ? same : 'new', inspection });
  }
  return planned;
}

/** Reads the state of a repository. @throws HubError, also if the repository is public and must not be. */
async function readRemote(
  connection: Connection,
  { repo, branch, ...request }: UploadRequest,
): Promise<Remote> {
  const atBranch = await infoOf(connection, repo, branch);
  const info = atBranch ?? (await infoOf(connection, repo));
  if (request.private && info?.private === false) {
    throw new HubError(
      `Expected ${repoText(repo)} to be private, as --private demands, but it is public. Nothing was uploaded. Leave out ` +
        '--private, or make it private on its settings page first.',
    );
  }
  return { private: info?.private ?? null, head: atBranch?.head ?? null, base: info?.head ?? null };
}

/** Returns the visibility and the last commit of a repository, or of its branch; null if the token finds none. */
async function infoOf({ library, params, token }: Connection, repo: Repo, revision?: string) {
  const query = { ...params, name: repo.name, revision, additionalFields: ['sha'] as ['sha'] };
  try {
    const { name, sha, ...info } =
      repo.type === 'dataset' ? await library.datasetInfo(query) : await library.modelInfo(query);
    if (typeof name === 'string' && name.toLowerCase() !== repo.name.toLowerCase()) {
      throw new HubError(
        `Expected ${repoText(repo)}, got ${JSON.stringify(redacted(name, token))}: it was renamed. Pass the new name to --repo.`,
      );
    }
    return { private: Boolean(info.private), head: sha };
  } catch (error) {
    // Without a token, the Hub answers 401 for a missing or private repository.
    if (isStatus(error, 404) || (isStatus(error, 401) && token === null)) return null;
    throw error;
  }
}

/** The maximum number of paths per request, chosen by hand. */
const PATHS_PER_REQUEST = 100;

/** Returns the files of a request that the repository has, by path. @throws HubError, also if a path is a directory. */
async function filesAt(
  { library, params, token }: Connection,
  { repo, files }: UploadRequest,
  revision: string | null,
): Promise<Map<string, PathInfo>> {
  const found = new Map<string, PathInfo>();
  if (revision === null) return found;
  for (let first = 0; first < files.length; first += PATHS_PER_REQUEST) {
    const paths = files.slice(first, first + PATHS_PER_REQUEST).map(({ target }) => target);
    for (const info of await library.pathsInfo({ ...params, repo, revision, paths })) {
      if (info.type !== 'file') {
        throw new HubError(
          `Expected ${JSON.stringify(redacted(info.path, token))} of ${repo.name} to be a file, got a ${redacted(info.type, token)}. Pass another --path-in-repo.`,
        );
      }
      found.set(info.path, info);
    }
  }
  return found;
}

export interface CommitMessage {
  readonly title: string;
  readonly description?: string;
}

/**
 * Creates the repository and the branch if they are missing, and commits the changed files. What was created and sent remains
 * if a later request fails. @returns the commit's URL; null if no file differs. @throws HubError, also if another commit was made since the plan.
 */
export async function executePlan(
  connection: Connection,
  plan: UploadPlan,
  message: CommitMessage,
  signal: AbortSignal,
): Promise<string | null> {
  const { library, params } = connection;
  const { repo, branch } = plan;
  let { remote } = plan;
  if (remote.private === null) {
    const visibility = plan.private ? 'private' : undefined;
    const accessToken = params.accessToken!;
    await unlessItExists(library.createRepo({ ...params, accessToken, repo, visibility }));
    remote = await readRemote(connection, plan);
  }
  if (remote.head === null) {
    await unlessItExists(library.createBranch({ ...params, repo, branch }));
    remote = await readRemote(connection, plan);
  }
  const operations: CommitOperation[] = [];
  for (const { file } of changedFiles(plan.planned))
    operations.push({ operation: 'addOrUpdate', path: file.target, content: await contentOf(file.blob) });
  if (operations.length === 0) return null;
  const output = await library.commit({
    ...{ ...params, repo, branch, ...message, operations, abortSignal: signal },
    // The Hub refuses the commit with status 412 if the branch has another head.
    parentCommit: remote.head ?? undefined,
    // With LFS, which the Hub supports for clients without Xet (huggingface.co/docs/hub/xet/legacy-git-lfs), the Hub
    // has a file as soon as it was sent, and finds it by its SHA-256. So an interrupted upload resumes. With Xet the library
    // registers the files of a batch together, at the end.
    useXet: false,
  });
  return output?.commit.url ?? repoUrl(params.hubUrl, repo);
}

/** Awaits a creation. Ignores status 409: the repository or branch exists, because of an earlier attempt or another client. */
const unlessItExists = (creation: Promise<unknown>): Promise<unknown> =>
  creation.catch((error) => {
    if (!isStatus(error, 409)) throw error;
  });

/** The maximum size of a small file, in bytes. Chosen by hand: small files are held in memory until the commit ends. */
const MAX_SMALL = 1e5;

/**
 * Returns the content to commit. Reads a small file into memory, because the library opens all files at once, which can
 * exceed the system's limit of open files.
 */
const contentOf = async (blob: Blob): Promise<Blob> =>
  blob.size > MAX_SMALL ? blob : new Blob([await blob.arrayBuffer()]);
