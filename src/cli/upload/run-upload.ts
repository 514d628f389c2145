/** The work of `rhythm-vec upload`. */

import { packageVersion } from '../../shared/version.js';
import { type Account, accountOf } from '../../training/hub/account.js';
import type { CommitMessage } from '../../training/hub/commit.js';
import { type Connection, connect } from '../../training/hub/connection.js';
import { guarded } from '../../training/hub/guard.js';
import { collectFiles, type LocalFiles } from '../../training/hub/local-files.js';
import { withoutSecrets } from '../../training/hub/redact.js';
import { checkBranch, checkRepo, type RepoType } from '../../training/hub/repo.js';
import { executePlan, planUpload } from '../../training/hub/upload.js';
import { changedFiles, type UploadPlan } from '../../training/hub/upload-plan.js';
import { UsageError } from '../failure.js';
import { Meter } from './upload-progress.js';
import { filesText, notesOn, repositoryText, sizeOf } from './upload-text.js';

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

/** Uploads files, or prints the plan with --dry-run. @throws UsageError, InputError for arguments; HubError, LibraryError; the signal's reason. */
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
  const meter = new Meter();
  try {
    await guarded(account.token, signal, async () => {
      const connection = await connectFor(account, meter, signal);
      const request = { repo, branch, private: options.private ?? false, files: local.files };
      meter.total = sizeOf(local.files);
      const onRead = (bytes: number): void => meter.add('read', bytes);
      const plan = await planUpload(connection, request, { signal, onRead });
      meter.stop();
      printPlan(account, plan, local, options);
      if (!options.dryRun) await send(connection, plan, options, meter, signal);
    });
  } finally {
    meter.stop();
  }
}

function branchOf({ branch, revision }: UploadCommandOptions): string {
  if (branch === undefined || revision === undefined || branch === revision) {
    return checkBranch(branch ?? revision ?? 'main');
  }
  throw new UsageError('Expected --branch or --revision, which mean the same; got both. Omit one.');
}

function checkMessage(message: string | undefined): void {
  if (message === undefined || message.trim() !== '') return;
  throw new UsageError('Expected --message to be a text, got an empty one. Leave it out for the default.');
}

function refuseWithoutToken(): never {
  throw new UsageError(
    'Expected a token with write access, got none. Make one at https://huggingface.co/settings/tokens and set HF_TOKEN, or run ' +
      '"hf auth login"; --dry-run needs none.',
  );
}

function connectFor(account: Account, meter: Meter, signal: AbortSignal): Promise<Connection> {
  const onWait = (why: string): void => {
    // Removes the bar, so that the note has its own line.
    meter.stop();
    note(account, why);
  };
  return connect(account, { signal, onWait, onSent: (bytes) => meter.add('sent', bytes) });
}

function printPlan(
  account: Account,
  plan: UploadPlan,
  local: LocalFiles,
  options: UploadCommandOptions,
): void {
  print(account, [
    repositoryText(account.endpoint, plan, options.dryRun ?? false),
    ...filesText(plan.planned),
  ]);
  for (const text of notesOn(plan.planned, local)) note(account, text);
  if (options.dryRun) print(account, ['Nothing was changed: --dry-run.']);
}

async function send(
  connection: Connection,
  plan: UploadPlan,
  options: UploadCommandOptions,
  meter: Meter,
  signal: AbortSignal,
): Promise<void> {
  const changed = changedFiles(plan.planned);
  if (changed.length === 0 && plan.remote.head !== null) {
    print(connection, ['Nothing to upload: the repository has all of it.']);
    return;
  }
  meter.total = sizeOf(changed.map(({ file }) => file));
  try {
    const message = messageOf(options, changed.length);
    const onHashed = (bytes: number): void => meter.add('hashed', bytes);
    const url = await executePlan(connection, plan, { message, signal, onHashed });
    meter.stop();
    print(connection, [
      url === null ? 'Nothing to upload: the repository has all of it by now.' : `Committed: ${url}`,
    ]);
  } catch (error) {
    meter.stop();
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
