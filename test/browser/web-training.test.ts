/** Tests the training of a student on the page: by keyboard and by touch, its file, and the kept student as a policy. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { loadStudent } from '../../src/agents/student/packaged-students.js';
import { encodeStudent } from '../../src/agents/student/student-file.js';
import { evaluate, readStudent } from '../../src/index.js';
import { MEASURED } from '../support/web/small-sizes.js';
import { SIZES } from '../support/web/visit.js';
import { describePage } from '../support/web/visits.js';

/** Waits until the heading has a score of the student. */
const scored = (page: Page): Promise<void> =>
  page.getByRole('heading', { name: /^(So far the|The) student scores 0\.\d{3}/ }).waitFor();

const stopped = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Train another student' }).waitFor();

/** Waits until the week is a race against the student. */
const raced = (page: Page): Promise<void> =>
  expect.poll(() => page.getByRole('combobox', { name: 'Against' }).inputValue()).toBe('ada');

describePage('the training', ({ visit }) => {
  it('is started by keyboard and ends by itself, its file plays in Node as on the page, and the kept student is used by touch', async () => {
    // The last part is on a phone. Only visits that begin on a phone have touch.
    await using visited = await visit('#train', { size: 'phone' });
    const { page } = visited;
    await page.setViewportSize(SIZES.laptop);
    await page.getByRole('heading', { name: 'Train a student' }).waitFor();
    await page.getByText('Seed', { exact: true }).first().press('Enter');
    await page.getByRole('textbox', { name: 'Seed' }).waitFor();
    await page.getByRole('button', { name: 'Start training' }).press('Enter');
    await page.getByText(new RegExp(`^After \\d+ seconds, in ${MEASURED.count} weeks`)).waitFor();
    await scored(page);
    // The heading says how far the student is from its teacher.
    await page
      .getByRole('heading', { name: /^The student scores 0\.\d{3}, 0\.\d{3} (below|above) the planner$/ })
      .waitFor({ timeout: 180_000 });
    await stopped(page);
    expect(await page.getByRole('alert').count()).toBe(0);
    const curves = page.getByRole('slider', { name: 'Read the curves at' });
    await curves.press('Home');
    expect(await curves.getAttribute('aria-valuetext')).toMatch(
      /^\d+\.\d s, mostly [a-z ]+: final score 0\.\d{3}, belief error 0\.\d{3}, reward /,
    );
    expect(await page.locator('.crosshair').count()).toBe(4);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).press('Enter');
    const file = await download;
    expect(file.suggestedFilename()).toBe('my-student.safetensors');
    const student = readStudent(new Uint8Array(await readFile((await file.path())!)));
    expect(student.manifest.grader.name).toBe('v2');
    const [first, last] = [MEASURED.first, MEASURED.first + MEASURED.count - 1];
    const { rows } = await evaluate({ policies: { student }, seeds: { first, last }, grader: 'v2' });
    const measured = student.manifest.evaluation[`seeds ${first}-${last}`];
    expect(measured).toEqual({
      episodes: MEASURED.count,
      finalScore: expect.closeTo(rows[0].finalScore.mean, 6),
      beliefMae: expect.closeTo(rows[0].beliefMae, 6),
    });
    const heading = page.getByRole('heading', { name: /^The student scores/ });
    await expect.poll(() => heading.textContent()).toContain(rows[0].finalScore.mean.toFixed(3));
    await page.getByRole('textbox', { name: 'Name' }).fill('ada');
    await page.getByRole('button', { name: 'Keep', exact: true }).press('Enter');
    await page.getByText(/^ada is kept/).waitFor();
    await visited.expectAccessibleInAllSizes('train');
    await page.setViewportSize(SIZES.phone);
    const renamed = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).tap();
    expect((await renamed).suggestedFilename()).toBe('ada.safetensors');
    await page.getByRole('button', { name: 'Play against it' }).tap();
    await raced(page);
    expect(page.url()).toContain('against=ada');
    await page.reload();
    await page.getByRole('button', { name: /^Sleep/ }).tap();
    await page
      .locator('.rail', { hasText: 'ada, in its own week: 0.' })
      .first()
      .waitFor({ state: 'attached' });
    await visited.follow(`#person?moves=${'3'.repeat(27)}&against=ada`);
    await page.getByText('27 of 28 slots').waitFor();
    await page.getByRole('button', { name: /^Sleep/ }).tap();
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    await page.getByRole('row', { name: /^ada .*\d/ }).waitFor();
    await visited.follow('#person?by=ada&at=28');
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    await page.getByRole('row', { name: /^ada / }).first().waitFor();
    await visited.follow('#train');
    await page.getByRole('button', { name: 'Delete ada' }).tap();
    await visited.follow('#person?by=ada');
    await page.getByText('This link has by = “ada”').waitFor();
  }, 240_000);

  it('keeps students as policies of Crowd and Graders, and races them under the grader of their training', async () => {
    const student = await loadStudent('student-v2');
    const file = Buffer.from(encodeStudent(student.manifest, student.network)).toString('base64');
    const kept = JSON.stringify(JSON.stringify({ ada: file }));
    const scripts = [`localStorage.setItem('rhythm-vec.students', ${kept})`];
    const crowd = '#crowd?people=1000&policy=ada&against=heuristic';
    await using visited = await visit(crowd, { size: 'phone', scripts });
    const { page } = visited;
    const digests = page
      .locator('.results[aria-busy="false"]')
      .getByRole('table', { name: 'Means and digests' });
    const { rows } = await evaluate({ policies: { student }, seeds: { first: 0, last: 999 }, grader: 'v2' });
    const mean = await digests.getByRole('row', { name: /^ada / }).locator('td').first().textContent();
    expect(Number(mean)).toBeCloseTo(rows[0].finalScore.mean, 6);
    for (const name of ['Policy', 'Compare with'])
      expect(await page.getByRole('combobox', { name }).locator('option').allTextContents()).toContain('ada');
    await page.getByRole('heading', { name: /^Ada beats daily rules of thumb for / }).waitFor();
    await visited.follow('#graders?people=48');
    await page.locator('.ranking li[data-policy="ada"]').waitFor({ state: 'attached' });
    await visited.follow('#train');
    await page.getByText('trained under v2').waitFor();
    await page.getByRole('button', { name: 'Play against ada' }).tap();
    await raced(page);
    expect(page.url()).not.toContain('grader=');
  });

  it('learns from a teacher that plays, and is started and stopped by touch', async () => {
    await using visited = await visit('#train?teacher=heuristic%2Binference&grader=v3', { size: 'phone' });
    const { page } = visited;
    await page.getByRole('button', { name: 'Start training' }).tap();
    await scored(page);
    await page.getByRole('button', { name: 'Stop' }).tap();
    await stopped(page);
    await page.getByRole('button', { name: 'Keep', exact: true }).tap();
    await page.getByText(/^my-student is kept/).waitFor();
    await page.getByText('trained under v3').waitFor();
  });
});
