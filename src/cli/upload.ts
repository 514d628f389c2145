/** `rhythm-vec upload`: uploads files to the Hub. */
import { type Command, Option } from 'commander';
import { LibraryError } from '../shared/errors.js';
import { packageVersion } from '../shared/version.js';
import {
  type Account,
  accountOf,
  checkBranch,
  checkRepo,
  REPO_TYPES,
  type RepoType,
} from '../training/hub/account.js';
import { type Connection, type ConnectOptions, connect } from '../training/hub/connection.js';
import { HubError, withoutSecrets, withSafeErrors } from '../training/hub/hub-errors.js';
import type { ReadOptions } from '../training/hub/inspect-file.js';
import { collectFiles, type LocalFiles } from '../training/hub/local-files.js';
import {
  type CommitMessage,
  changedFiles,
  executePlan,
  type PlannedFile,
  planFiles,
  planUpload,
  type UploadPlan,
  type UploadRequest,
} from '../training/hub/upload.js';
import { UsageError } from './command-errors.js';
import type { Context } from './context.js';
import { createProgress } from './progress.js';
import { filesText, notesOn, repositoryText, sizeOf, unreadText } from './upload-text.js';

interface Options {
  readonly repo: string;
  readonly type: RepoType;
  readonly private?: boolean;
  readonly pathInRepo?: string;
  readonly message?: string;
  readonly branch?: string;
  readonly revision?: string;
  readonly dryRun?: boolean;
}

const HELP = `
A file keeps its name; the contents of a directory keep their relative paths. README.md goes to the root, where the Hub looks
for a card. In directories, the command leaves out links, and names that begin with a dot or end with .partial,
.partial.footer, .spent, .jsonl.lock, .parquet.lock, .tmp or ~; it lists what it left out.
All differences from the repository become one commit. An interrupted upload resumes with the same command: uploaded
contents are not sent again. If nothing differs, the command says so, and the exit code is 0.
If someone else changes the repository during the upload, nothing is committed. A file that contains the token is refused.
The token is HF_TOKEN, HUGGING_FACE_HUB_TOKEN or that of "hf auth login"; HF_ENDPOINT names another Hub. A token is
never printed. --dry-run only compares with the repository, and needs no token if the repository is public. Without the
network it lists the files that would be uploaded.

Examples:
  rhythm-vec teach --seeds 100-129 --output teacher.jsonl
  rhythm-vec dataset sft --jsonl teacher.jsonl --output sft
  rhythm-vec upload --repo newcomer/rhythm-sft --dry-run sft
  rhythm-vec upload --repo newcomer/rhythm-sft --private sft
  rhythm-vec upload --repo newcomer/rhythm-sft --path-in-repo trajectories --message "The teacher's episodes" teacher.jsonl
`;

export function defineUpload(command: Command, { signal }: Context): void {
  command
    .argument('<files...>', 'files and directories')
    .requiredOption('--repo <USER/NAME>', 'the repository; created if it does not exist')
    .addOption(new Option('--type <name>', 'type of the repository').choices(REPO_TYPES).default('dataset'))
    .option('--private', 'create the repository as private; an existing public repository is refused')
    .option(
      '--path-in-repo <directory>',
      'directory of the repository for all files but README.md (default: its root)',
    )
    .option('--message <text>', 'commit message; its first line is the title (default: the number of files)')
    .option('--branch <name>', 'created from the default branch if it does not exist (default: main)')
    .option('--revision <name>', 'the same as --branch')
    .option('--dry-run', 'print what would be created and uploaded, and change nothing')
    .addHelpText('after', HELP)
    .action((files: string[], options: Options) => runUpload(files, options, signal));
}

/** Prints the plan of an upload, and uploads the files unless --dry-run is given. */
async function runUpload(paths: readonly string[], options: Options, signal: AbortSignal): Promise<void> {
  const { message, dryRun = false } = options;
  const repo = checkRepo(options.type, options.repo);
  const branch = branchOf(options);
  if (message?.trim() === '')
    throw new UsageError('Expected --message to be a text, got an empty text. Leave it out for the default.');
  const account = accountOf();
  if (account.token === null && !dryRun) {
    throw new UsageError(
      'Expected a token with write access, got none. Make one at https://huggingface.co/settings/tokens and set HF_TOKEN, or ' +
        'run "hf auth login"; --dry-run needs none.',
    );
  }
  const local = await collectFiles(paths, options.pathInRepo);
  const request = { repo, branch, private: options.private ?? false, files: local.files };
  const upload = new Upload(account, local, signal);
  try {
    await withSafeErrors(account.token, signal, () =>
      dryRun ? upload.preview(request) : upload.send(request, message),
    );
  } finally {
    upload.stop();
  }
}

function branchOf({ branch, revision }: Options): string {
  if (branch === undefined || revision === undefined || branch === revision) {
    return checkBranch(branch ?? revision ?? 'main');
  }
  throw new UsageError(
    'Expected --branch or --revision, which mean the same; got both. Omit one of the two.',
  );
}

/** An upload that prints what it does, with a progress bar for reading the files and one for sending them. */
class Upload {
  readonly #account: Account;
  readonly #local: LocalFiles;
  readonly #reading: ReadOptions;
  #bar = createProgress('bytes read');
  #done = 0;
  #total: number;

  constructor(account: Account, local: LocalFiles, signal: AbortSignal) {
    this.#account = account;
    this.#local = local;
    this.#total = sizeOf(local.files);
    this.#reading = { signal, onRead: (bytes) => this.#advance(bytes) };
  }

  /** Prints the plan. If the Hub does not answer or its package is missing, prints the files without comparing them. */
  async preview(request: UploadRequest): Promise<void> {
    try {
      await this.#plan(await this.#connect({ retryUnanswered: false }), request, 'would be');
    } catch (error) {
      const isAlone = error instanceof LibraryError || (error instanceof HubError && error.status === null);
      if (!isAlone) throw error;
      this.#done = 0;
      const listed = await planFiles(request.files, null, this.#account.token, this.#reading);
      this.#note(error.message);
      this.#printFiles(unreadText(this.#account.endpoint, request.repo), listed);
    }
    this.#print('Nothing was changed: --dry-run.');
  }

  async send(request: UploadRequest, message: string | undefined): Promise<void> {
    const { signal } = this.#reading;
    const connection = await this.#connect({});
    const plan = await this.#plan(connection, request, 'will be');
    const changed = changedFiles(plan.planned);
    // Without a head, the repository or the branch is missing, and sending creates it.
    if (changed.length === 0 && plan.remote.head !== null)
      return this.#print('Nothing to upload: the repository has all files already.');
    [this.#bar, this.#done] = [createProgress('bytes sent'), 0];
    this.#total = sizeOf(changed.map(({ file }) => file));
    try {
      const url = await executePlan(connection, plan, messageOf(message, changed.length), signal);
      this.stop();
      this.#print(
        url === null ? 'Nothing to upload: the branch has all files already.' : `Committed: ${url}`,
      );
    } catch (error) {
      if (signal.aborted) this.#note('the Hub keeps what was sent; the same command resumes from there.');
      throw error;
    }
  }

  #connect(options: Partial<ConnectOptions>): Promise<Connection> {
    return connect(this.#account, {
      ...options,
      signal: this.#reading.signal,
      onWait: (why) => this.#note(why),
      onSent: (bytes) => this.#advance(bytes),
    });
  }

  /** Compares the files with the repository, and prints the plan. */
  async #plan(connection: Connection, request: UploadRequest, verb: string): Promise<UploadPlan> {
    const plan = await planUpload(connection, request, this.#reading);
    this.stop();
    this.#printFiles(repositoryText(this.#account.endpoint, plan, verb), plan.planned);
    return plan;
  }

  #printFiles(head: string, planned: readonly PlannedFile[]): void {
    for (const line of [head, ...filesText(planned)]) this.#print(line);
    for (const text of notesOn(planned, this.#local)) this.#note(text);
  }

  #print(line: string): void {
    process.stdout.write(`${withoutSecrets(line, this.#account.token)}\n`);
  }

  #note(text: string): void {
    // A note has its own line.
    this.stop();
    process.stderr.write(`note: ${withoutSecrets(text, this.#account.token)}\n`);
  }

  #advance(bytes: number): void {
    this.#done += bytes;
    this.#bar.update(this.#done, this.#total);
  }

  /** Removes the progress bar until the next bytes. */
  stop(): void {
    this.#bar.stop();
  }
}

function messageOf(message: string | undefined, count: number): CommitMessage {
  const files = count === 1 ? 'a file' : `${count} files`;
  const [title, ...rest] = (message ?? `Upload ${files} with rhythm-vec ${packageVersion()}`)
    .trim()
    .split('\n');
  const description = rest.join('\n').trim();
  return description === '' ? { title: title.trim() } : { title: title.trim(), description };
}
