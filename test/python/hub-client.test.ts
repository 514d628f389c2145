/**
 * Uploads to a fake Hub, by this package and by huggingface_hub (the Hub's Python client, which TRL installs). Each
 * recognises as unchanged the files that the other uploaded.
 */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../fakes/hub-store.js';
import { bytes, changesOf, directoryOf, REPO, startHub, textsAt, uploadTo } from '../support/hub.js';
import { askPythonAsync, whyAbsent } from '../support/python.js';

const SCRIPT = 'hub/upload.py';
const absent = whyAbsent('trl', '1.13 or later, with huggingface_hub', SCRIPT, null);

interface Answer {
  readonly committed: boolean;
  readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: string | null }[];
}

describe.skipIf(absent !== null)(`huggingface_hub${absent === null ? '' : `: skipped, ${absent}`}`, () => {
  const files = { 'big.bin': bytes(25_000), 'one.bin': bytes(900), 'x/small.txt': 's' };
  const prepare = async () => {
    const hub = await startHub({ large: 20_000, part: 10_000 });
    const folder = directoryOf(files);
    const question = { env: hub.environment, name: REPO.name, folder, paths: Object.keys(files) };
    return { hub, folder, ask: () => askPythonAsync<Answer>(SCRIPT, question) };
  };
  const expected = [
    { path: 'big.bin', size: 25_000, sha256: sha256(bytes(25_000)) },
    { path: 'one.bin', size: 900, sha256: sha256(bytes(900)) },
    { path: 'x/small.txt', size: 1, sha256: null },
  ];

  it('uploads files, which planUpload then recognises as unchanged', async () => {
    const { hub, folder, ask } = await prepare();
    expect(await ask()).toEqual({ committed: true, files: expected });
    expect(textsAt(hub)['big.bin']).toBe(bytes(25_000).toString());
    const { url, plan } = await uploadTo(hub, [folder]);
    expect([url, new Set(Object.values(changesOf(plan.planned)))]).toEqual([null, new Set(['same'])]);
  });

  it('recognises as unchanged the files that executePlan uploaded', async () => {
    const { hub, folder, ask } = await prepare();
    await uploadTo(hub, [folder]);
    expect(await ask()).toEqual({ committed: false, files: expected });
  });
});
