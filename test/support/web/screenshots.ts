/** Takes screenshots of the page, for people to look at. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const FOLDER = process.env.RHYTHM_SCREENSHOTS;

/** Writes `NAME.png` of the whole page to the folder `RHYTHM_SCREENSHOTS`. Does nothing without this variable. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!FOLDER) return;
  await mkdir(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
}
