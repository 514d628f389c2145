/** Runs `rhythm-vec upload`. */

import { LibraryError } from '../../shared/errors.js';
import { packageVersion } from '../../shared/version.js';
import { type Account, accountOf } from '../../training/hub/account.js';
import {
  type CommitMessage,
  changedFiles,
  listFiles,
  type PlannedFile,
  type UploadPlan,
  type UploadRequest,
} from '../../training/hub/commit.js';
import { type Connection, connect } from '../../training/hub/connection.js';
import { HubError, withoutSecrets, withSafeErrors } from '../../training/hub/hub-errors.js';
import type { ReadOptions } from '../../training/hub/inspect-file.js';
import { collectFiles, type LocalFiles } from '../../training/hub/local-files.js';
import { checkBranch, checkRepo, type RepoType } from '../../training/hub/remote.js';
import { executePlan, planUpload } from '../../training/hub/upload.js';
import { UsageError } from '../command-errors.js';
import { UploadProgress } from './upload-progress.js';
import { filesText, notesOn, repositoryText, sizeOf, unreadText } from './upload-text.js';

export interface UploadCommandOptions {
  readonly repo: string;
  readonly type: RepoType;
  readonly private?: boolean;
  readonly pathInRepo?: string;
  readonly message?: string;
  readonly branch?: string;
  readonly revision?: string;
  readonly dryRun?: boolean;
}

/** Prints the plan of an upload, and uploads the files unless --dry-run is given. */
export async function runUpload(
  paths: readonly string[],
  options: UploadCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const repo = checkRepo(options.type, options.repo);
  const branch = branchOf(options);
  checkMessage(options.message);
  const account = accountOf();
  if (account.token === null && !options.dryRun) refuseWithoutToken();
  const local = await collectFiles(paths, options.pathInRepo);
  const progress = new UploadProgress();
  try {
    await withSafeErrors(account.token, signal, async () => {
      const request = { repo, branch, private: options.private ?? false, files: local.files };
      progress.total = sizeOf(local.files);
      const onRead = (bytes: number): void => progress.add('read', bytes);
      const isDry = options.dryRun ?? false;
      const planning = { account, request, local, reading: { signal, onRead }, progress, isDry };
      if (isDry) {
        await dryRun(planning);
      } else {
        const connection = await connectFor(planning);
        await send(connection, await planWith(connection, planning), options, progress, signal);
      }
    });
  } finally {
    progress.stop();
  }
}

interface Planning {
  readonly account: Account;
  readonly request: UploadRequest;
  readonly local: LocalFiles;
  readonly reading: ReadOptions;
  readonly progress: UploadProgress;
  readonly isDry: boolean;
}

/** Prints the plan. If the Hub does not answer or its package is missing, prints the files without comparing them. */
async function dryRun(planning: Planning): Promise<void> {
  const { account, request, local, reading, progress } = planning;
  try {
    const connection = await connectFor(planning);
    await planWith(connection, planning);
  } catch (error) {
    const cannotCompare = error instanceof LibraryError || (error instanceof HubError && error.unanswered);
    if (!cannotCompare) throw error;
    const listed = await listFiles(account.token, request.files, reading);
    progress.stop();
    note(account, error instanceof HubError ? `${error.brief}.` : error.message);
    printFiles(account, unreadText(account.endpoint, request.repo), listed, local);
  }
  print(account, ['Nothing was changed: --dry-run.']);
}

/** Compares the files with the repository, and prints the plan. */
async function planWith(
  connection: Connection,
  { account, request, local, reading, progress, isDry }: Planning,
): Promise<UploadPlan> {
  const plan = await planUpload(connection, request, reading);
  progress.stop();
  printFiles(account, repositoryText(account.endpoint, plan, isDry), plan.planned, local);
  return plan;
}

function branchOf({ branch, revision }: UploadCommandOptions): string {
  if (branch === undefined || revision === undefined || branch === revision) {
    return checkBranch(branch ?? revision ?? 'main');
  }
  throw new UsageError(
    'Expected --branch or --revision, which mean the same; got both. Omit one of the two.',
  );
}

function checkMessage(message: string | undefined): void {
  if (message === undefined || message.trim() !== '') return;
  throw new UsageError('Expected --message to be a text, got an empty text. Leave it out for the default.');
}

function refuseWithoutToken(): never {
  throw new UsageError(
    'Expected a token with write access, got none. Make one at https://huggingface.co/settings/tokens and set HF_TOKEN, or run ' +
      '"hf auth login"; --dry-run needs none.',
  );
}

/** Connects to the Hub. With --dry-run, requests without an answer are not repeated. */
function connectFor({ account, progress, reading: { signal }, isDry }: Planning): Promise<Connection> {
  const onWait = (why: string): void => {
    // Removes the bar, so that the note has its own line.
    progress.stop();
    note(account, why);
  };
  return connect(account, {
    signal,
    onWait,
    retryUnanswered: !isDry,
    onSent: (bytes) => progress.add('sent', bytes),
  });
}

function printFiles(
  account: Account,
  head: string,
  planned: readonly PlannedFile[],
  local: LocalFiles,
): void {
  print(account, [head, ...filesText(planned)]);
  for (const text of notesOn(planned, local)) note(account, text);
}

async function send(
  connection: Connection,
  plan: UploadPlan,
  options: UploadCommandOptions,
  progress: UploadProgress,
  signal: AbortSignal,
): Promise<void> {
  const changed = changedFiles(plan.planned);
  // Without a head, the repository or the branch is missing, and sending creates it.
  if (changed.length === 0 && plan.remote.head !== null) {
    print(connection, ['Nothing to upload: the repository has all files already.']);
    return;
  }
  progress.total = sizeOf(changed.map(({ file }) => file));
  try {
    const message = messageOf(options, changed.length);
    const onHashed = (bytes: number): void => progress.add('hashed', bytes);
    const url = await executePlan(connection, plan, { message, signal, onHashed });
    progress.stop();
    print(connection, [
      url === null ? 'Nothing to upload: the repository has all files by now.' : `Committed: ${url}`,
    ]);
  } catch (error) {
    progress.stop();
    if (signal.aborted) {
      note(connection, 'the Hub keeps what was sent; the same command resumes from there.');
    }
    throw error;
  }
}

function messageOf({ message }: UploadCommandOptions, count: number): CommitMessage {
  const files = count === 1 ? 'a file' : `${count} files`;
  const [title, ...rest] = (message ?? `Upload ${files} with rhythm-vec ${packageVersion()}`)
    .trim()
    .split('\n');
  const description = rest.join('\n').trim();
  return description === '' ? { title: title.trim() } : { title: title.trim(), description };
}

function print({ token }: Pick<Account, 'token'>, lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${withoutSecrets(line, token)}\n`);
}

function note({ token }: Pick<Account, 'token'>, text: string): void {
  process.stderr.write(`note: ${withoutSecrets(text, token)}\n`);
}
