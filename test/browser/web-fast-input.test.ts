/** Tests keys and clicks that come before the page has drawn the next frame, or before a worker has answered. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { DELAY_STEPS, FAST_INPUT, fastInput, HOLD_REPORTS } from '../support/web/fast-input.js';
import { slots } from '../support/web/visit.js';
import { describePage } from '../support/web/visits.js';

/** The actions of the first 27 steps. */
const MOVES = '012345678998765432100482615';

describePage('fast input', ({ at, visit, share }) => {
  /** The page of most tests. It delays the steps of continuous play. */
  const opened = share('#train', { scripts: [FAST_INPUT, DELAY_STEPS] });
  const show = async (fragment: string): Promise<Page> => {
    await opened().page.evaluate('held = {}; null');
    return (await opened().show(fragment)).page;
  };

  it('takes no step after the last', async () => {
    const page = await show(`#person?moves=${MOVES}`);
    await slots(page, 27);
    expect(await fastInput(page, "key('1'), key('2'), key('3')")).toBe(`#person?moves=${MOVES}0`);
    await show('#person?by=heuristic&at=27');
    await page.getByText('It gives no reasons.').waitFor();
    expect(await fastInput(page, "key('s'), key('s'), key('s')")).toBe('#person?by=heuristic&at=28');
  });

  it.each([
    ['Pause', "press('Pause')", '#person?by=heuristic&at=5'],
    ['Undo', "press('Undo')", '#person?by=heuristic&at=4'],
    ['Start again', "press('Start again')", '#person?by=heuristic'],
    ['another person', "choose('Person', 'discrete')", '#person?person=discrete&by=heuristic'],
  ])('takes no further step of continuous play after: %s', async (_, input, address) => {
    const page = await show('#person?by=heuristic&at=5');
    await slots(page, 5);
    await page.getByText('It gives no reasons.').waitFor();
    await page.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => page.evaluate('held[650] !== undefined')).toBe(true);
    expect(await fastInput(page, `${input}, due`)).toBe(address);
  });

  it('takes over no undone move, and neither moves nor the belief of the previous person', async () => {
    const page = await show('#person?by=heuristic&at=5');
    await slots(page, 5);
    expect(await fastInput(page, "press('Undo'), press('Take over')")).toMatch(/^#person\?moves=\d{4}$/);
    await page.goBack();
    await page.goBack();
    await slots(page, 5);
    expect(await fastInput(page, "choose('Person', 'discrete'), press('Take over')")).toBe(
      '#person?person=discrete',
    );
    await show('#person?moves=0-0_.9_.8_.7');
    await slots(page, 1);
    expect(await fastInput(page, "choose('Person', 'discrete'), key('1')")).toBe(
      '#person?person=discrete&moves=0',
    );
  });

  it('does not show the reasons of the previous policy', async () => {
    const page = await show('#person?by=heuristic%2Binference&at=3');
    await page.locator('blockquote').waitFor();
    const text = "document.querySelector('.next').textContent";
    expect(await fastInput(page, "choose('Played by', 'planner'), () => {}", text)).toMatch(
      /^What the planner does nextPlanning/,
    );
  });

  it('keeps the focus on a button while it is disabled', async () => {
    const page = await show('#person?by=heuristic');
    const step = page.getByRole('button', { name: 'Step' });
    await step.focus();
    for (let k = 1; k <= 3; k++) {
      await expect.poll(() => step.getAttribute('aria-disabled')).toBe('false');
      await page.keyboard.press('Enter');
      await slots(page, k);
    }
  });

  it('ignores a key that is pressed right after shortcuts are turned off', async () => {
    // The number of steps of a policy means nothing by hand.
    const page = await show('#person?at=5');
    await slots(page, 0);
    expect(await page.getByRole('button', { name: 'Undo' }).getAttribute('aria-disabled')).toBe('true');
    expect(await fastInput(page, "tick('Keys'), key('1'), press('Sleep')")).toMatch(/[?&]moves=3$/);
    expect(await fastInput(page, "tick('Keys'), key('1')")).toMatch(/[?&]moves=30$/);
  });

  it('announces the last step of continuous play, but not every step', async () => {
    const page = await show('#person?by=heuristic&at=25');
    const status = page.locator('.person > p[role="status"]');
    await expect.poll(() => status.textContent()).toMatch(/^Day 7 morning/);
    await page.evaluate(`globalThis.announced = 0;
    new MutationObserver(() => { announced += 1; }).observe(document.querySelector('.person > p[role="status"]'), {
      childList: true, characterData: true, subtree: true,
    });`);
    await page.getByRole('button', { name: 'Play' }).click();
    for (let at = 26; at <= 28; at++) {
      await expect.poll(() => page.evaluate('held[650] !== undefined')).toBe(true);
      await page.evaluate('due()');
      await page.waitForURL(new RegExp(`at=${at}$`));
    }
    await expect.poll(() => status.textContent()).toMatch(/^Day 7 night.*Final score 0\.\d{3}\.$/);
    expect(await page.evaluate('[announced, held[1000] ?? null]')).toEqual([1, null]);
  });

  it('pauses continuous play when the user goes back', async () => {
    const page = await show('#person?by=heuristic&at=5');
    await slots(page, 5);
    await page.getByRole('button', { name: 'Step' }).click();
    await slots(page, 6);
    await page.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => page.evaluate('held[650] !== undefined')).toBe(true);
    await page.goBack();
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await slots(page, 5);
    expect(await page.evaluate('held[650] === undefined')).toBe(true);
  });

  it('restores the last value of a slider when the user goes back', async () => {
    const page = await show('#graders?people=48');
    const slider = page.getByRole('slider', { name: 'no crashes' });
    await slider.waitFor();
    const moves = [300, 400, 500].map((to) => `enter('no crashes', ${to})`).join(', ');
    await fastInput(page, `${moves}, go('One person'), () => {}`);
    await page.getByText(/ of 28 slots$/).waitFor();
    await page.goBack();
    await expect.poll(() => slider.inputValue()).toBe('500');
  });

  it('does not carry typed text into another view', async () => {
    const page = await show('#crowd?people=1000');
    await page.locator('.results[aria-busy="false"]').waitFor();
    await page.getByRole('link', { name: 'One person' }).click();
    await page.getByText(/^Setting: /).click();
    const seed = page.getByRole('textbox', { name: 'Seed' });
    await seed.fill('77');
    await page.goBack();
    await page.locator('.results').waitFor();
    expect(page.url()).toBe(at('#crowd?people=1000'));
  });

  it('marks the results of earlier settings as outdated', async () => {
    const page = await show('#crowd?people=1000');
    await page.locator('.results[aria-busy="false"]').waitFor();
    const busy = "document.querySelector('.results').ariaBusy";
    expect(await fastInput(page, "choose('Policy', 'random')", busy)).toBe('true');
    await opened().follow('#person?moves=01');
    await slots(page, 2);
    const another = "document.querySelector('.week').ariaBusy";
    expect(await fastInput(page, "choose('Person', 'discrete')", another)).toBe('true');
    await slots(page, 0);
    expect(await page.evaluate(another)).toBe('false');
    await opened().follow('#graders?people=48');
    await page.getByRole('heading', { name: 'Who comes first' }).waitFor();
    const verdict = "document.querySelector('.verdict').textContent";
    expect(await fastInput(page, "enter('First seed', '7'), leave('First seed')", verdict)).toBe(
      'Playing the first weeks …',
    );
  });

  it('runs a crowd again after a double click, which does not stop it', async () => {
    const page = await show('#crowd?people=5000');
    await page.locator('.results[aria-busy="false"]').waitFor();
    await page.evaluate(`globalThis.stopShown = new Promise((shown) => {
      const isStop = ({ textContent }) => textContent.trim() === 'Stop';
      new MutationObserver(() => {
        if ([...document.querySelectorAll('button')].some(isStop)) shown();
      }).observe(document.body, { childList: true, characterData: true, subtree: true });
    }); null`);
    // On the left, where the narrower Stop button then appears.
    const position = { x: 10, y: 10 };
    await page.getByRole('button', { name: 'Run the week again' }).dblclick({ position });
    await page.evaluate('stopShown');
    await page.locator('.results[aria-busy="false"]').waitFor();
    expect(await page.getByText(/then stopped\.$/).count()).toBe(0);
  });

  it('shows a finished run as finished, with its last measurement, even if reports arrive late', async () => {
    await using visited = await visit('#crowd?people=5000', { scripts: [FAST_INPUT, HOLD_REPORTS] });
    const { page } = visited;
    await page.locator('.results[aria-busy="false"]').waitFor();
    const busy = "document.querySelector('.results').ariaBusy";
    expect(await fastInput(page, '() => answer(Infinity)', busy)).toBe('false');
    await page.evaluate('due = 0');
    await visited.follow('#train');
    await page.getByRole('button', { name: 'Start training' }).click();
    await page.getByRole('button', { name: 'Train another student' }).waitFor();
    const text = await fastInput(page, '() => answer(Infinity)', 'document.body.textContent');
    expect(text).toContain('The student scores 0.');
  });

  it('shows a view that the user leaves and opens again at once', async () => {
    const page = await show('#crowd?people=1000');
    await page.locator('.results[aria-busy="false"]').waitFor();
    // The view is left while its run is under way.
    await fastInput(page, "choose('Policy', 'random'), () => {}, go('Train'), () => {}, go('Crowd')");
    await page.locator('.results[aria-busy="false"]').waitFor();
    await fastInput(page, "go('Graders'), () => {}, go('One person'), () => {}, go('Graders')");
    await page.locator('.ranking li').first().waitFor();
  });
});
