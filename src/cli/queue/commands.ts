/** The commands of `rhythm-vec queue`, which share work between machines through Redis. */
import type { Command } from 'commander';
import type { CommandEntry } from '../context.js';

const HELP = `
"queue submit COMMAND" stores a command, such as teach, as a job that is split into shards. Any number of workers, on any
machines, compute the shards; "queue collect" writes the same file as COMMAND alone, byte for byte. The queue is kept in
Redis 6.2 or later, or Valkey, with an append-only file.
docs/commands.md has an example, and says what happens when a worker, a collector or Redis is killed.

Example:
  rhythm-vec queue submit --help
`;

const SUBMIT_HELP = `
Takes the options of the submitted command, such as teach, except those for its output, backend and threads. The last line of
the output is the job's name, which depends only on the job. Until a job is collected or cancelled, submitting it again changes
--budget, --requests-per-minute, --base-url, --concurrency, --timeout and --retries, and failed shards are tried again.

Examples:
  rhythm-vec queue submit teach --seeds 100-1099
  rhythm-vec queue submit eval --policies heuristic+constant,planner --conditions ood
  rhythm-vec queue submit dataset grpo --rows 100000 --profiles mix
  rhythm-vec queue submit teach --policy planner --seeds 100-9999 --shard-size 16 --priority 10
`;

/** Returns the entry of a command that can be submitted. @param load loads the function that adds the options of the command. */
const submitted = (name: string, load: () => Promise<(command: Command) => Command>): CommandEntry => ({
  description: `Submit a job that does what "rhythm-vec ${name}" does.`,
  load: async () => {
    const [{ defineSubmit }, addOptions] = await Promise.all([import('./submit.js'), load()]);
    return (command) => defineSubmit(addOptions(command), name);
  },
});

const SUBMIT: CommandEntry = {
  description: 'Submit a job: "submit teach", "submit eval" or "submit dataset grpo".',
  help: SUBMIT_HELP,
  commands: {
    teach: submitted('teach', async () => (await import('../teach.js')).addTeachOptions),
    eval: submitted('eval', async () => (await import('../eval/command.js')).addEvalOptions),
    dataset: {
      description: 'Submit a job that makes rows to train on: "submit dataset grpo".',
      commands: {
        grpo: submitted('dataset grpo', async () => (await import('../dataset/grpo.js')).addGrpoOptions),
      },
    },
  },
};

export const QUEUE: CommandEntry = {
  description: 'Share work between machines: submit jobs, work on them, collect their files.',
  help: HELP,
  commands: {
    submit: SUBMIT,
    work: {
      description: 'Compute shards of submitted jobs, until interrupted.',
      load: async () => (await import('./work.js')).defineWork,
    },
    status: {
      description: 'Show the progress of one job or of all jobs.',
      load: async () => (await import('./status.js')).defineStatus,
    },
    collect: {
      description: 'Wait for a job and write its file.',
      load: async () => (await import('./collect.js')).defineCollect,
    },
    cancel: {
      description: 'Stop a job and remove its results.',
      load: async () => (await import('./status.js')).defineCancel,
    },
  },
};
