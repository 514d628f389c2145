/** The progress bar of an upload: bytes read, hashed and sent, on a terminal only. */
import { beforeAll, expect, it } from 'vitest';
import { setQuiet } from '../../src/cli/quiet.js';
import { UploadProgress } from '../../src/cli/upload/upload-progress.js';

// Tests of other files in this process may have turned progress off.
beforeAll(() => setQuiet(false));

/** Creates a progress bar for two million bytes on a fake terminal or file. Returns it and the frames written. */
function barOn(isTTY: boolean) {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const bar = new UploadProgress({ isTTY, write, columns: 120 } as unknown as NodeJS.WriteStream);
  bar.total = 2e6;
  // Without duplicates: a slow machine draws a frame more than once.
  const frames = () => [...new Set(written.match(/-?\d+ % {2}-?\d+ of \d+ bytes \w+/g))];
  return { bar, frames };
}

it('the progress of an upload is a bar for each pass over the files', () => {
  const { bar, frames } = barOn(true);
  bar.add('read', 5e5);
  bar.stop();
  bar.add('hashed', 1e6);
  bar.add('sent', 2e6);
  bar.stop();
  expect(frames()).toEqual([
    '0 %  0 of 2000000 bytes read',
    '25 %  500000 of 2000000 bytes read',
    '0 %  0 of 2000000 bytes hashed',
    '50 %  1000000 of 2000000 bytes hashed',
    '0 %  0 of 2000000 bytes sent',
    '100 %  2000000 of 2000000 bytes sent',
  ]);
});

it('the bar continues after a pause, and stays between 0 and 100 %', () => {
  const { bar, frames } = barOn(true);
  bar.add('sent', 1e6);
  bar.stop();
  bar.add('sent', -3e6);
  bar.stop();
  bar.add('sent', 9e6);
  bar.stop();
  expect(frames()).toEqual(
    ['0 %  0', '50 %  1000000', '100 %  2000000'].map((done) => `${done} of 2000000 bytes sent`),
  );
});

it('nothing is printed without a terminal', () => {
  const { bar, frames } = barOn(false);
  bar.add('sent', 1e6);
  bar.stop();
  expect(frames()).toEqual([]);
});
