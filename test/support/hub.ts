/** A fake Hub for a test, and uploads to it within this process, in which nobody waits. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import type { Clock } from '../../src/http/clock.js';
import type { CommitMessage } from '../../src/hub/commit.js';
import { type Connection, connect } from '../../src/hub/connection.js';
import { guarded } from '../../src/hub/guard.js';
import { collectFiles } from '../../src/hub/local-files.js';
import type { PlannedFile, UploadPlan, UploadRequest } from '../../src/hub/plan.js';
import { carryOut, planUpload } from '../../src/hub/upload.js';
import { FakeHub, type FakeHubOptions } from '../fakes/hub.js';
import { PatientClock } from './patient-clock.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Closed after the test. */
export async function startHub(options: FakeHubOptions = {}): Promise<FakeHub> {
  const hub = await FakeHub.open(options);
  closing.push(() => hub.close());
  return hub;
}

/** A directory of files by their relative paths, removed after the test. */
export function directoryOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'rhythm-hub-'));
  closing.push(() => rmSync(directory, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  return directory;
}

/** Bytes that differ by their name and size. */
export const bytes = (size: number, name = 'x'): Buffer => Buffer.alloc(size, `${name} ${size} `);

export interface Told {
  readonly waits: string[];
  /** Bytes. */
  sent: number;
  read: number;
  hashed: number;
}

async function connectTo(
  hub: FakeHub,
  {
    token = hub.environment.HF_TOKEN,
    signal = new AbortController().signal,
    onWait = () => {},
    clock = new PatientClock(),
  }: Pick<Wanted, 'token' | 'signal' | 'onWait' | 'clock'> = {},
): Promise<{ connection: Connection; told: Told }> {
  const told: Told = { waits: [], sent: 0, read: 0, hashed: 0 };
  const connection = await connect(
    { endpoint: hub.url, token },
    {
      ...{ signal, clock },
      onWait: (why) => {
        told.waits.push(why);
        onWait(why);
      },
      onSent: (count) => {
        told.sent += count;
      },
    },
  );
  return { connection, told };
}

export interface Wanted extends Partial<Omit<UploadRequest, 'files'>> {
  readonly token?: string | null;
  readonly prefix?: string;
  readonly message?: CommitMessage;
  readonly signal?: AbortSignal;
  readonly onWait?: (why: string) => void;
  readonly clock?: Clock;
  /** Called between the plan and what it says. */
  readonly between?: (plan: UploadPlan) => unknown;
}

export interface Happened {
  readonly url: string | null;
  readonly plan: UploadPlan;
  readonly told: Told;
}

export const REPO = { type: 'dataset', name: 'newcomer/weeks' } as const;

/** As the command does it. */
export async function uploadTo(
  hub: FakeHub,
  paths: readonly string[],
  wanted: Wanted = {},
): Promise<Happened> {
  const { signal = new AbortController().signal, prefix = '', message = { title: 'a test' } } = wanted;
  const { connection, told } = await connectTo(hub, { ...wanted, signal });
  const { files } = await collectFiles(paths, prefix);
  const request = { repo: REPO, branch: 'main', private: false, ...wanted, files };
  const onRead = (count: number) => {
    told.read += count;
  };
  const onHashed = (count: number) => {
    told.hashed += count;
  };
  return guarded(connection.token, signal, async () => {
    const plan = await planUpload(connection, request, { signal, onRead });
    await wanted.between?.(plan);
    return { url: await carryOut(connection, plan, { message, signal, onHashed }), plan, told };
  });
}

/** What becomes of each file, by its place. */
export const changesOf = (planned: readonly PlannedFile[]): Record<string, string> =>
  Object.fromEntries(planned.map(({ file, change }) => [file.target, change]));

/** The texts of a branch's files, but for the attributes that every repository has. */
export const textsAt = (hub: FakeHub, branch = 'main', type = 'dataset'): Record<string, string> => {
  const tree = hub.repo(type, REPO.name)?.branches.get(branch)?.at(-1)?.tree ?? new Map();
  return Object.fromEntries(
    [...tree]
      .filter(([path]) => path !== '.gitattributes')
      .map(([path, { content }]) => [path, content.toString()]),
  );
};

/** How often a hub saw requests of a kind. */
export const countOf = (hub: FakeHub, kind: RegExp): number =>
  hub.requests.filter(({ what }) => kind.test(what)).length;
