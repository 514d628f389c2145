/** `rhythm-vec upload`: uploads files to the Hub. */
import { type Command, Option } from 'commander';
import { REPO_TYPES } from '../../training/hub/remote.js';
import type { Context } from '../context.js';
import type { UploadCommandOptions } from './run-upload.js';

const HELP = `
A file keeps its name; the contents of a directory keep their relative paths. README.md goes to the root, where the Hub looks
for a card. In directories, the command leaves out links, and names that begin with a dot or end with .partial,
.partial.footer, .spent, .jsonl.lock, .parquet.lock, .tmp or ~; it lists what it left out.
All differences from the repository become one commit. An interrupted upload resumes with the same command: uploaded
contents are not sent again. If nothing differs, the command says so, and the exit code is 0.
A file that someone else changes in the repository during the upload is not overwritten. A file that contains the token is
refused.
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

export function addUploadCommand(program: Command, { signal }: Context): void {
  program
    .command('upload')
    .description('Upload files to a repository of the Hugging Face Hub, as one commit.')
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
    .action(async (files: string[], options: UploadCommandOptions) => {
      const { runUpload } = await import('./run-upload.js');
      await runUpload(files, options, signal);
    });
}
