/** The bar of an upload: what is read, hashed and sent, on a terminal only. */
import { expect, it } from 'vitest';
import { Meter } from '../src/cli/upload/meter.js';

/** A meter of two million bytes on a stand-in for a terminal or a file, and what that was given. */
function meterOn(isTTY: boolean) {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const meter = new Meter({ isTTY, write, columns: 120 } as unknown as NodeJS.WriteStream);
  meter.total = 2e6;
  // Each once: a slow machine draws a bar more often.
  const shown = () => [...new Set(written.match(/-?\d+ % {2}-?\d+ of \d+ bytes \w+/g))];
  return { meter, shown };
}

it('has a bar for each passage through the files', () => {
  const { meter, shown } = meterOn(true);
  meter.add('read', 5e5);
  meter.stop();
  meter.add('hashed', 1e6);
  meter.add('sent', 2e6);
  meter.stop();
  expect(shown()).toEqual([
    '0 %  0 of 2000000 bytes read',
    '25 %  500000 of 2000000 bytes read',
    '0 %  0 of 2000000 bytes hashed',
    '50 %  1000000 of 2000000 bytes hashed',
    '0 %  0 of 2000000 bytes sent',
    '100 %  2000000 of 2000000 bytes sent',
  ]);
});

it('goes on where it was, is never above all nor below nothing', () => {
  const { meter, shown } = meterOn(true);
  meter.add('sent', 1e6);
  meter.stop();
  meter.add('sent', -3e6);
  meter.stop();
  meter.add('sent', 9e6);
  meter.stop();
  expect(shown()).toEqual(
    ['0 %  0', '50 %  1000000', '100 %  2000000'].map((done) => `${done} of 2000000 bytes sent`),
  );
});

it('is silent where there is no terminal', () => {
  const { meter, shown } = meterOn(false);
  meter.add('sent', 1e6);
  meter.stop();
  expect(shown()).toEqual([]);
});
