/** Starts fake Hubs, and uploads files to them in this process, with a clock that does not wait. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/shared/http/retry.js';
import { type Connection, connect } from '../../src/training/hub/connection.js';
import { withSafeErrors } from '../../src/training/hub/hub-errors.js';
import { collectFiles } from '../../src/training/hub/local-files.js';
import {
  type CommitMessage,
  executePlan,
  type PlannedFile,
  planUpload,
  type UploadPlan,
  type UploadRequest,
} from '../../src/training/hub/upload.js';
import { FakeHub, type FakeHubOptions } from '../fakes/hub.js';
import { FakeClock } from './fake-clock.js';

/** Starts a fake Hub. It closes after the test. */
export async function startHub(options: FakeHubOptions = {}): Promise<FakeHub> {
  const hub = await FakeHub.open(options);
  onTestFinished(() => hub.close());
  return hub;
}

/** Creates a directory with files by relative path. It is removed after the test. */
export function directoryOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'rhythm-hub-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  return directory;
}

/** Returns bytes that depend on the name and the size. */
export const bytes = (size: number, name = 'x'): Buffer => Buffer.alloc(size, `${name} ${size} `);

export interface Progress {
  /** The reasons of the waits. */
  readonly waits: string[];
  /** `sent` and `read` are in bytes. */
  sent: number;
  read: number;
}

async function connectTo(
  hub: FakeHub,
  {
    token = hub.environment.HF_TOKEN,
    signal = new AbortController().signal,
    onWait = () => {},
    clock = new FakeClock(),
  }: Pick<UploadSettings, 'token' | 'signal' | 'onWait' | 'clock'> = {},
): Promise<{ connection: Connection; progress: Progress }> {
  const progress: Progress = { waits: [], sent: 0, read: 0 };
  const connection = await connect(
    { endpoint: hub.url, token },
    {
      signal,
      clock,
      onWait: (why) => {
        progress.waits.push(why);
        onWait(why);
      },
      onSent: (count) => {
        progress.sent += count;
      },
    },
  );
  return { connection, progress };
}

export interface UploadSettings extends Partial<Omit<UploadRequest, 'files'>> {
  readonly token?: string | null;
  readonly prefix?: string;
  readonly message?: CommitMessage;
  readonly signal?: AbortSignal;
  readonly onWait?: (why: string) => void;
  readonly clock?: Clock;
  /** Called between the plan and the upload. */
  readonly between?: (plan: UploadPlan) => unknown;
}

export interface UploadOutcome {
  readonly url: string | null;
  readonly plan: UploadPlan;
  readonly progress: Progress;
}

export const REPO = { type: 'dataset', name: 'newcomer/episodes' } as const;

/** Uploads files as the command does. */
export async function uploadTo(
  hub: FakeHub,
  paths: readonly string[],
  settings: UploadSettings = {},
): Promise<UploadOutcome> {
  const { signal = new AbortController().signal, prefix = '', message = { title: 'a test' } } = settings;
  const { connection, progress } = await connectTo(hub, { ...settings, signal });
  const { files } = await collectFiles(paths, prefix);
  const request = { repo: REPO, branch: 'main', private: false, ...settings, files };
  const onRead = (count: number) => {
    progress.read += count;
  };
  return withSafeErrors(connection.token, signal, async () => {
    const plan = await planUpload(connection, request, { signal, onRead });
    await settings.between?.(plan);
    return { url: await executePlan(connection, plan, message, signal), plan, progress };
  });
}

/** Returns the change of each file, by its path. */
export const changesOf = (planned: readonly PlannedFile[]): Record<string, string> =>
  Object.fromEntries(planned.map(({ file, change }) => [file.target, change]));

/** Returns the texts of a branch's files, without .gitattributes. */
export const textsAt = (hub: FakeHub, branch = 'main', type = 'dataset'): Record<string, string> => {
  const tree = hub.repo(type, REPO.name)?.branches.get(branch)?.at(-1)?.tree ?? new Map();
  return Object.fromEntries(
    [...tree]
      .filter(([path]) => path !== '.gitattributes')
      .map(([path, { content }]) => [path, content.toString()]),
  );
};

/** Counts the requests of a kind. */
export const countOf = (hub: FakeHub, kind: RegExp): number =>
  hub.requests.filter(({ what }) => kind.test(what)).length;
