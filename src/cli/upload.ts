/** `rhythm-vec upload`: files to the Hub. What does it is loaded when it is asked for. */
import { type Command, Option } from 'commander';
import { REPO_TYPES } from '../hub/repo.js';
import type { Context } from './context.js';
import type { UploadCommandOptions } from './upload/run.js';

const HELP = `
A file keeps its name; of a directory, its contents keep their relative paths. README.md goes to the root, where the Hub looks
for a card. Names that begin with a dot, or end with .partial, .spent, .jsonl.lock, .tmp or ~, and links are left out of
directories, and said.
All that differs from what is there becomes one commit: all of it or nothing is seen. What was interrupted goes on where it
stopped, by the same command: contents that are there are not sent again. Nothing to do is said, and is no failure.
A file that somebody else changes meanwhile is not written over; a file that holds the token is refused.
The token is HF_TOKEN, HUGGING_FACE_HUB_TOKEN or what "hf auth login" has left; HF_ENDPOINT names another Hub. A token is
shown nowhere. --dry-run asks what is there, changes nothing, and needs no token where that is public.

Examples:
  rhythm-vec teach --teacher planner --seeds 100-129 --output teacher.jsonl
  rhythm-vec dataset sft --jsonl teacher.jsonl --output sft
  rhythm-vec upload --repo newcomer/rhythm-sft --dry-run sft
  rhythm-vec upload --repo newcomer/rhythm-sft --private sft
  rhythm-vec upload --repo newcomer/rhythm-sft --path-in-repo trajectories --message "The teacher's weeks" teacher.jsonl
`;

export function addUploadCommand(program: Command, { signal }: Context): void {
  program
    .command('upload')
    .description('Upload files to a repository of the Hugging Face Hub, as one commit.')
    .argument('<files...>', 'files and directories')
    .requiredOption('--repo <USER/NAME>', 'the repository; created if it is not there')
    .addOption(new Option('--type <name>', 'of the repository').choices(REPO_TYPES).default('dataset'))
    .option('--private', 'create it private; one that is there and public is refused')
    .option(
      '--path-in-repo <directory>',
      'of the repository, where all but README.md goes (default: its root)',
    )
    .option('--message <text>', "the commit's; its first line is the title (default: how many files)")
    .option('--branch <name>', 'created from the default branch if it is not there (default: main)')
    .option('--revision <name>', 'the same as --branch')
    .option('--dry-run', 'say what would be created and uploaded, and change nothing')
    .addHelpText('after', HELP)
    .action(async (files: string[], options: UploadCommandOptions) => {
      const { runUpload } = await import('./upload/run.js');
      await runUpload(files, options, signal);
    });
}
