/** Takes screenshots of the page, for people to look at. */
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const FOLDER = process.env.RHYTHM_SCREENSHOTS || join(tmpdir(), 'rhythm-vec-screenshots');

/** Writes `NAME.png` of the whole page to the folder `RHYTHM_SCREENSHOTS`, by default a temporary folder. */
export async function screenshot(page: Page, name: string): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
}
