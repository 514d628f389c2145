/** Tests that the students of the package make the same decisions in Chromium as in Node, in 150 episodes. */
import { describe, expect, inject, it, test } from 'vitest';
import { STUDENT_NAMES } from '../../src/agents/student/shipped-students.js';
import { bundleFor } from '../support/chromium/bundle.js';
import { ChromiumPage } from '../support/chromium/chromium.js';
import type { StudentPage } from '../support/chromium/student-page.js';
import { EVALUATION_SEEDS, playStudent } from '../support/student-episodes.js';

const absent = inject('whyNoChromium');
if (absent !== null) test.skip(`absent here: Chromium: ${absent}`, () => {});

describe.skipIf(absent !== null)('in Chromium', () => {
  it('students take the same actions and state the same beliefs as in Node', async () => {
    const { text } = bundleFor('test/support/chromium/student-page.ts');
    await using page = await ChromiumPage.open<StudentPage>(text);
    for (const name of STUDENT_NAMES) {
      const played = await page.call('playStudent', name, EVALUATION_SEEDS);
      expect(played).toEqual(await playStudent(name, EVALUATION_SEEDS));
      // The compared actions must be varied. The bound is chosen by hand.
      expect(new Set(played.actions).size).toBeGreaterThan(5);
    }
  });
});
