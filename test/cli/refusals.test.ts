/**
 * Command lines that are refused as usage errors: before any work, before the first request to a model or the Hub, and without
 * a change of any file. Each names what is expected, or the remedy.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { BRACKET_AUDIT } from '../support/bracket.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { episodesText, playerOf } from '../support/trajectories.js';

const temporary = temporaryDirectory();
/** `linked` is a link to the folder of all other files. */
const pathOf = (name: string): string => temporary(`files/${name}`);

/** Splits a command line at spaces. `{name}` is the path of a file of the test; two spaces enclose an empty word. */
const argsOf = (line: string): string[] =>
  line === ''
    ? []
    : line.split(' ').map((word) => word.replaceAll(/\{(.*?)\}/g, (_, name: string) => pathOf(name)));

/** Returns the contents of all files of the test, by name. */
const contents = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(pathOf(''), { recursive: true, encoding: 'utf8' }).map((name) => [
      name,
      statSync(pathOf(name)).isFile() ? readFileSync(pathOf(name), 'utf8') : 'a directory',
    ]),
  );

/** No server listens at these addresses, so a request would fail with another exit code. */
const ENVIRONMENT = {
  ...{ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_API_KEY: 'sk-x' },
  ...{ HF_ENDPOINT: 'http://127.0.0.1:1', HF_TOKEN: 'hf_x', HUGGING_FACE_HUB_TOKEN: '', HF_TOKEN_PATH: '' },
};
const GRADER = '{"name":"calm","weights":{"crash_free":0.5,"progress":0.5}}';

beforeAll(async () => {
  const wellbeing = episodesText([100, 101], { player: playerOf({ objective: 'wellbeing' }) });
  const score = episodesText([100], { player: playerOf({ objective: 'score' }) });
  for (const name of ['project', 'rows']) mkdirSync(pathOf(name), { recursive: true });
  const files = {
    'calm.json': GRADER,
    'audit.md': GRADER,
    'bad.json': '{"name":"x","weights":{"progress":null}}',
    'older.json': JSON.stringify({ ...BRACKET_AUDIT, version: '0.0.1' }),
    'v1.json': JSON.stringify({ ...BRACKET_AUDIT, grader: 'v1' }),
    'torn.json': '{',
    'rows.jsonl': '{"seed":5,"actions":["sleep"]}\n',
    't.jsonl': wellbeing,
    'score.jsonl': score,
    'messages.jsonl': '{"messages":[],"seed":100}\n'.repeat(40),
    'project/README.md': '# A project\n',
    'project/report.html': '<title>mine</title>',
    'rows/train.jsonl': '{}\n',
    'rows/scores.png': 'mine',
    ...{ blank: '\n', 'zero.safetensors': '' },
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(pathOf(name), text);
  symlinkSync('files', temporary('linked'));
  const evaluation = ['eval', '--seeds', '5-5', '--policies', 'random'];
  const outputs = ['--trajectories', pathOf('random.jsonl'), '--json', pathOf('results.json')];
  await runCli([...evaluation, ...outputs]);
});

type Refused = [line: string, message: string, environment?: Record<string, string>];

const EVAL: Refused[] = [
  ['eval --polices random', 'Did you mean --policies?'],
  ['eval ood', 'too many arguments'],
  ['eval --policies randon', 'Did you mean "random"?'],
  ['eval --policies gpt-4o-mini', 'llm:MODEL; got "gpt-4o-mini"'],
  ['eval --policies random,,heuristic', '--policies <names|files>'],
  ['eval --policies __proto__', 'error: Expected'],
  ['eval --policies ./none.js', 'ENOENT'],
  [
    'eval --policies ./examples/recurrent-policy.js,examples/recurrent-policy.js',
    'Expected one policy named',
  ],
  ['eval --policies {zero.safetensors}', "Expected a student's file, got bytes that are not safetensors"],
  ['eval --conditions in-distributon', 'Did you mean "in-distribution"?'],
  ['eval --conditions constructor', 'error: Expected'],
  ['eval --conditions custom', 'Expected seeds for the condition "custom"'],
  ['eval --conditions discrete --profiles sampled', 'Leave out the profiles, or the condition.'],
  ['eval --profiles smapled', 'Did you mean "sampled"?'],
  ['eval --profiles hasOwnProperty', 'error: Expected'],
  ['eval --seeds 10', 'Expected A-B'],
  ['eval --seeds 10-9', 'Expected A-B'],
  ['eval --seeds 0-4294967296', 'Expected A-B'],
  ['eval --episodes many', "option '--episodes <n>'"],
  ['eval --episodes 0', 'Expected episodes to be an integer of at least 1, got 0.'],
  ['eval --grader v4', 'one of v1, v2, v3 or a file, got "v4"; there is no such file'],
  ['eval --grader toString', 'error: Expected'],
  ['eval --grader {bad.json}', 'at weights.progress of '],
  ['eval --backend refrence', 'Did you mean "reference"?'],
  ['eval --backend reference --kernel avx2', 'Leave out --kernel'],
  ['eval --threads 0', 'from 1 to 256, got 0.'],
  ['eval --json ', 'Expected --json to name a file, got an empty name.'],
  ['eval --json /dev/null/x.json', '/dev/null is not a directory'],
  ['eval --json {}', 'which is a directory'],
  ['eval --json {new/x} --grader v9', 'there is no such file'],
  ['eval --trajectories {x} --json {x}', 'another file than --json'],
  ['eval --json /dev/null/x', '/dev/null is not a directory'],
  ['eval --json {x} --trajectories {../linked/x}', 'Expected --trajectories to be another file'],
  ['eval --json - --trajectories -', 'another file than --json, got -.'],
  ['eval --trajectories /dev/null/t.jsonl', '/dev/null is not a directory'],
  ['eval --trajectories {calm.json} --grader {calm.json}', 'another file than --grader'],
  [
    'eval --trajectories {x} --seeds 0-9999999',
    'got 60000000 (6 policies, 10000000 episodes each). An episode takes about 14 kB of JSON: add --format parquet',
  ],
  ['eval --format parquet', 'Expected --trajectories with --format'],
  ['eval --bracket {older.json}', 'older.json: Expected an audit of rhythm-vec'],
  ['eval --bracket {torn.json}', 'torn.json: Expected one JSON object, got invalid JSON'],
  ['eval --bracket {nowhere}', 'Expected --bracket to name a file'],
  ['eval --bracket -', 'to name a file, got -, the standard input. Write the audit to a file'],
  ['eval --bracket {v1.json}', 'Expected an audit of a grader in use (v2, v3), got an audit of "v1"'],
  ['eval --bracket {v1.json} --json {v1.json}', 'Expected --json to be another file than --bracket'],
  ['eval --policies random --concurrency 3', 'a language model for --concurrency, got none'],
  ['eval --policies llm:', 'a model name of 1 to 200 printable characters after llm:'],
  ['eval --policies llm:a,llm:b --prices 1,2', 'one language model with --prices'],
  ['eval --policies llm:m --budget 1', 'Expected --prices with --budget'],
  ['eval --policies llm:m --trajectories -', 'to name a file when a language model is used, got -.'],
  ['eval --policies llm:m --conditions custom --seeds 0-999999', 'at most 100000 episodes of llm:m'],
  ['eval --policies llm:m --trajectories {random.jsonl}', 'Pass the policies of the earlier run'],
  ['eval --policies llm:m --trajectories {rows.jsonl}', '--trajectories'],
  ['eval --policies random,llm:m --grader v1 --trajectories {random.jsonl}', 'to be "v1", got "v2":'],
  ['eval --policies llm:m --json {x.partial} --trajectories {x}', 'the temporary files of --trajectories'],
  ['eval --shard 0/2', 'Expected --trajectories with --shard, got none.'],
  ['eval --shard 0/2 --trajectories {a} --json {b}', 'Pass --json to merge.'],
  ['eval --shard 0/2 --trajectories -', 'The manifest is written beside it.'],
  ['eval --shard 0/6 --seeds 0-4 --trajectories {x}', 'one for each of the 5 episodes of a policy, got 6.'],
];

const TEACH: Refused[] = [
  ['teach --seeds 5-5', "required option '--output"],
  ['teach --output {x}', "required option '--seeds"],
  ...(
    [
      ['--output /dev/null/x.jsonl', '/dev/null is not a directory'],
      ['--output {results.json} --policy llm:m', 'which is the JSON of eval.'],
      ['--output {x.parquet} --format jsonl', 'to end with .jsonl, as --format says'],
      ['--output {x} --policy planer', 'Did you mean "planner"'],
      ['--output {x} --policy random', 'a policy that states its reasons'],
      ['--output {x} --policy ./examples/recurrent-policy.js', 'to have a function reasons'],
      ['--output {x} --profiles nobody', 'nobody'],
      ['--output {x} --budget 5', 'no --budget with --policy planner-wellbeing'],
      ['--output - --policy llm:m', '--output to name a file when --policy llm:m is used'],
      ['--output /dev/null --policy llm:m', '--output to name a file when --policy llm:m is used'],
      ['--output {x} --policy llm:a\nb', 'printable characters after llm:, got "a\\nb"'],
      [`--output {x} --policy llm:${'m'.repeat(201)}`, 'a model name of 1 to 200 printable characters'],
      ['--output {x} --policy llm:m --budget 5', '--prices with --budget'],
      ['--output {x} --policy llm:m --prices 5', 'prompt,completion'],
      ['--output {x} --policy llm:m --prices 5,-1', 'prompt,completion'],
      [`--output {x} --policy llm:m --prices ${'9'.repeat(400)},1`, 'prompt,completion'],
      ['--output {x} --policy llm:m --concurrency 0', '--concurrency to be from 1 to 1024, got 0'],
      ['--output {x} --policy llm:m --timeout 3601', '--timeout to be from 1 to 3600'],
      ['--output {x} --policy llm:m --temperature 3', '--temperature to be from 0 to 2'],
      ['--output {x} --policy llm:m --top-p 0', '--top-p to be above 0 to 1'],
      ['--output {x} --policy llm:m --max-tokens 0', '--max-tokens to be from 1'],
      ['--output {x} --policy llm:m --system-role developer', 'Allowed choices are system, user'],
      ['--output {x} --policy llm:m --base-url nonsense', '--base-url to be an http or https URL'],
      ['--output {x} --policy llm:m --seeds 0-4294967295', 'at most 1000000 episodes'],
      ['--output {x} --policy llm:m', 'OPENAI_API_KEY', { OPENAI_BASE_URL: '', OPENAI_API_KEY: '' }],
      [
        '--output {x} --policy llm:m',
        'OPENAI_API_VERSION',
        { OPENAI_BASE_URL: '', AZURE_OPENAI_ENDPOINT: 'https://a', AZURE_OPENAI_API_KEY: 'k' },
      ],
      ['--output {x} --shard 4/4', 'Expected an index from 0 to 3, got 4.'],
      ['--output {x} --shard 0', 'Expected i/n or auto/n with n from 1 to 1000000, such as 0/4.'],
      ['--output {x} --shard 0/0', 'Expected i/n or auto/n'],
      ['--output {x} --shard auto/4', 'JOB_COMPLETION_INDEX or SLURM_ARRAY_TASK_ID'],
      ['--output {x} --shard auto/4', '0 to 3 in SLURM_ARRAY_TASK_ID, got 4.', { SLURM_ARRAY_TASK_ID: '4' }],
      ['--output {x} --shard auto/4', 'got SLURM_ARRAY_TASK_ID=x.', { SLURM_ARRAY_TASK_ID: 'x' }],
      [
        '--output {x} --shard auto/4',
        'Expected one index, got JOB_COMPLETION_INDEX=2 and SLURM_ARRAY_TASK_ID=1.',
        { SLURM_ARRAY_TASK_ID: '1', JOB_COMPLETION_INDEX: '2' },
      ],
      ['--output {x} --shard 0/3', 'Divide the job into fewer shards.'],
      ['--output - --shard 0/1', 'Name a file.'],
      ['--output {x.parquet} --shard 0/1', 'to have JSON lines with --shard'],
    ] as Refused[]
  ).map(([line, ...rest]): Refused => [`teach --seeds 5-5 ${line}`, ...rest]),
];

const OTHERS: Refused[] = [
  ['', 'Usage: rhythm-vec'],
  ['evl', 'Did you mean eval?'],
  ['train --output {x} --teacher planner-oracle', 'Expected a teacher that sees observations only'],
  ['replay --input -', "required option '--output <file>' not specified"],
  ['replay --input {none} --output {x}', '--input to name a file'],
  ['replay --input {} --output {x}', 'a directory'],
  ['replay --input - --output {}', 'is a directory'],
  ['replay --input - --output /dev/null/no/x', '/dev/null is not a directory'],
  ['replay --input - --output - --backend reference --kernel avx2', '--kernel'],
  ['replay --input - --output {x} --grader v9', '--grader to be one of v1, v2, v3 or a file, got "v9"'],
  ['replay --input {rows.jsonl} --output {../linked/rows.jsonl}', 'another file than --input'],
  ['reeval', "required option '--jsonl <files...>'"],
  ['reeval --jsonl {none}', 'it does not exist'],
  ['reeval --jsonl {}', 'it is a directory'],
  ['reeval --jsonl /dev/null', 'Expected episodes, got none. Pass'],
  ['reeval --jsonl {t.jsonl} --grader v9', 'there is no such file'],
  ['reeval --jsonl {t.jsonl} --json {t.jsonl}', 'which is the same'],
  ['reeval --jsonl {t.jsonl} --grader {calm.json} --json {calm.json}', 'another file than --grader'],
  ['reeval --jsonl {t.jsonl} --mismatches all', 'Expected a whole number'],
  ['reeval --jsonl {t.jsonl} --kernel abacus', 'abacus'],
  ['reeval --jsonl {messages.jsonl}', '... and 30 more lines skipped'],
  ['reeval --jsonl {messages.jsonl}', 'got a row of a training dataset. Pass the trajectories'],
  ['reeval --jsonl {t.jsonl} --baselines student', 'reactive+constant, planner-prior; got student.'],
  ['regrade', "required option '--jsonl <files...>' not specified"],
  ['regrade --jsonl {none}', '--jsonl to name a file'],
  ['regrade --jsonl {}', 'it is a directory'],
  ['regrade --jsonl {random.jsonl} --json {random.jsonl}', 'another file than --jsonl'],
  ['regrade --jsonl {random.jsonl} --grader v9', 'or a file, got "v9"'],
  ['regrade --jsonl {random.jsonl} --conditions costum', 'Did you mean "custom"?'],
  ['audit v1', 'too many arguments'],
  ['audit --grader v4', 'or a file, got "v4"; there is no such file'],
  ['audit --planner-episodes 0', 'Expected --planner-episodes to be an integer from 2'],
  ['audit --evaluations many', "option '--evaluations <n>'"],
  ['audit --backend reference --kernel avx2', 'Leave out --kernel'],
  ['audit --json {}', 'which is a directory'],
  ['audit --output {calm.json}', 'to name a directory'],
  ['audit --output {calm.json}/report', '{calm.json} is not a directory'],
  ['audit --output ', 'got an empty name'],
  ['audit --output {new} --json {other/../new/audit.json}', 'another file than those of --output'],
  ['audit --output {../linked} --json {Audit.MD}', 'another file than those of --output'],
  ['audit --output {../linked} --grader {audit.md}', 'Expected --output to be another file than --grader'],
  ['audit --shard 0/2', "unknown option '--shard'"],
  ['dataset grpo --output {x.jsonl}', "required option '--rows <n>'"],
  ['dataset grpo --rows 9', "required option '--output <file>'"],
  ['dataset grpo --rows 9 --output {x.jsonl} --seeds 0-99', 'where 0-99 are kept for evaluation'],
  ['dataset grpo --rows 9 --output {x.csv}', 'Expected --output to end with .jsonl or .parquet'],
  ['dataset grpo --rows 9 --output {x.parquet} --format jsonl', 'to end with .jsonl, as --format says'],
  ['dataset grpo --rows 9 --output {x.csv} --format csv', 'Allowed choices are jsonl, parquet'],
  ['dataset grpo --rows 9 --output - --format jsonl', 'other than its card README.md, got -'],
  ['dataset grpo --rows 9 --output {README.md} --format jsonl', 'its card README.md, got'],
  ['dataset grpo --rows 9 --output {project/x.jsonl}', 'Write --output to a directory of its own.'],
  ['dataset grpo --rows 9 --output /dev/null/x.jsonl', '/dev/null is not a directory'],
  ['dataset grpo --rows 9 --output {x.jsonl} --profiles me', 'got "me"'],
  ['dataset grpo --rows 9 --output {x.jsonl} --steps all', 'such as 8-27'],
  ['dataset grpo --rows 9 --output {x.jsonl} --steps 3-28', 'the last of steps'],
  ['dataset grpo --rows 9 --output {x.jsonl} --kernel abacus', 'abacus'],
  ['dataset grpo --rows 3 --output {x.jsonl} --shard 0/4', 'one for each of the 3 rows, got 4'],
  ['dataset grpo --rows 3 --output {x.parquet} --shard 0/2', 'JSON lines with --shard'],
  ['dataset sft --output {x}', "required option '--jsonl <files...>'"],
  ['dataset sft --jsonl {t.jsonl}', "required option '--output <directory>'"],
  ['dataset sft --jsonl {none} --output {x}', 'it does not exist'],
  ['dataset sft --jsonl {t.jsonl} --output {x} --seeds 0-99', 'where 0-99 are kept for evaluation'],
  ['dataset sft --jsonl {t.jsonl} --output {x} --objective scor', 'Did you mean "score"?'],
  ['dataset sft --jsonl {t.jsonl} --output {x} --format csv', 'Allowed choices are jsonl, parquet'],
  ['dataset sft --jsonl {t.jsonl} --output {x} --min-score high', 'Expected a decimal number'],
  ['dataset sft --jsonl {t.jsonl} --output {x} --min-score 2', '--min-score to be from 0 to 1, got 2'],
  ['dataset sft --jsonl {t.jsonl} --output {x/y/z} --min-score 1', 'a lower score (2)'],
  ['dataset sft --jsonl {t.jsonl} --output {project}', 'whose README.md is not the card'],
  ['dataset sft --jsonl {t.jsonl} --output {rows}', 'which already contains train.jsonl'],
  ['dataset sft --jsonl {t.jsonl} --output {t.jsonl}', 'is not a directory. Name another path.'],
  ['dataset sft --jsonl {score.jsonl} --output {x}', 'Choose another (score, none) with --objective'],
  ['dataset sft --jsonl - --output {x.jsonl} --shard 0/2', 'got the standard input'],
  ['dataset sft --jsonl {t.jsonl} --output {x.jsonl} --shard 0/3', 'the 2 lines of --jsonl, got 3'],
  ['dataset sft --jsonl {t.jsonl} --output {} --shard 0/2', 'to be a file with --shard'],
  ['dataset dpo --jsonl {t.jsonl} --output {x}', 'Expected pairs to train on, got none from 2 episodes'],
  ['report {none} --output {x}', 'Expected RESULTS to name a file, got '],
  ['report {results.json}', "required option '--output <directory>'"],
  ['report {results.json} {../linked/results.json} --output {x}', 'which is the same'],
  ['report {zero.safetensors} --output {x}', 'got an empty file'],
  ['report {project/README.md} --output {x}', 'got 1 line skipped: 1 corrupt'],
  ['report {results.json} --output {rows}', 'got scores.png. Name another directory'],
  ['report {results.json} --output {project}', 'got report.html. Name another directory'],
  ['report {results.json} --output {x} --bracket {torn.json}', 'torn.json: Expected one JSON object'],
  ['upload {calm.json}', "required option '--repo"],
  ['upload --repo episodes {calm.json}', 'Expected --repo to be USER/NAME'],
  ['upload --repo a/b --type space {calm.json}', 'Allowed choices are dataset, model'],
  ['upload --repo a/b {none}', 'does not exist. Check the path'],
  ['upload --repo a/b --branch a --revision b {calm.json}', 'Omit one'],
  ['upload --repo a/b --message  {calm.json}', 'Expected --message to be a text'],
  ['upload --repo a/b {calm.json}', 'Expected a token with write access, got none', { HF_TOKEN: '' }],
  ['serve --token-file {blank}', 'openssl'],
  ['serve --capacity 0', 'Expected capacity to be an integer from 1'],
  ['serve --body-limit much', 'Expected a number'],
  ['serve --kernel mmx', '--kernel'],
  ['queue work --redis redis://127.0.0.1:1 --backend wasm --threads 4', 'threads 1 with backend "wasm"'],
  ['world --numbers {torn.json}', 'torn.json: Expected one JSON object'],
  ['world --numbers {bad.json}', 'bad.json'],
];

describe.each([
  ['eval', EVAL],
  ['teach', TEACH],
  ['other commands', OTHERS],
])('%s', (_, refused) => {
  it.each(refused)('refuses: %s', async (line, message, environment = {}) => {
    const before = contents();
    const { code, stdout, stderr } = await runCli(argsOf(line), '', { ...ENVIRONMENT, ...environment });
    expect(stderr).toContain(message.replace('{calm.json}', pathOf('calm.json')));
    expect(stderr).not.toMatch(/^ +at /m);
    expect([code, stdout]).toEqual([2, '']);
    expect(contents()).toEqual(before);
  });
});
