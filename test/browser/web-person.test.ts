/** Tests the one-person view in Chromium: play by hand and by policy, the hidden profile, addresses, accessibility. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { STEPPED_POLICIES } from '../../src/agents/policies/stepped-policies.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import { Episode } from '../../src/engine/reference/episode.js';
import {
  ACTION_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  OBSERVATION_SIZE,
  TRAIT_NAMES,
} from '../../src/world/fields.js';
import { RHYTHM } from '../../src/world/numbers.js';
import { createWorld } from '../../src/world/world.js';
import {
  comparison,
  plain,
  signed,
  timeOf,
  title,
  transitionsOf,
} from '../../web/src/person/descriptions.js';
import type { EpisodeSetting, Move } from '../../web/src/person/episode.js';
import { FIRST_SEED, HINTS, movesFrom } from '../../web/src/person/episode.js';
import { playRival } from '../../web/src/person/players.js';
import { Observer, replayEpisode } from '../../web/src/person/replay.js';
import { headline, livedScore, readScore } from '../../web/src/person/result-text.js';
import { policyName } from '../../web/src/words.js';
import { SIZES, slots, type Visit } from '../support/web/visit.js';
import { describePage } from '../support/web/visits.js';

/** The setting of links without a seed and a grader, and that of the first visit. */
const SETTING: EpisodeSetting = { seed: 4242, profile: 'sampled', grader: 'v2' };
const FIRST: EpisodeSetting = { seed: FIRST_SEED, profile: 'sampled', grader: 'v3' };
const FIRST_ADDRESS = `#person?seed=${FIRST_SEED}&grader=v3`;
/** 28 keys for all ten actions: 1 is action 0, and 0 is action 9. */
const KEYS = [...'1234567890', ...'0987654321', ...'15937260'];
const SEQUENCE = KEYS.map((key) => (Number(key) + 9) % 10);
const SEQUENCE_TEXT = SEQUENCE.join('');
/** The address of a finished week: its actions and two beliefs, in the format of web/src/person/episode.ts. */
const FINISHED = `#person?moves=${SEQUENCE_TEXT}-0_.5_.25_1~9_.61_.33_0`;

const movesOf = (text: string): Move[] => movesFrom(text)!;

/** The steps of an episode that the reference computes. */
const stepsOf = (setting: EpisodeSetting, moves: readonly Move[]) =>
  transitionsOf(replayEpisode(setting, moves)).slice(1);

/** Reads the final score in the text to share, which is folded. */
async function finalScore(page: Page): Promise<number> {
  const text = (await page.locator('.result-text').textContent())!;
  return Number(/Score (0\.\d{3})\.|Nothing scored/.exec(text)![1] ?? 0);
}

/** Opens a part that is folded at first. */
const unfold = (page: Page, name: string | RegExp): Promise<void> =>
  page.locator('summary').getByText(name).press('Enter');

const UNFOLD_ALL =
  "document.querySelectorAll('details:not([open]) > summary').forEach((each) => each.click())";

describePage('one person', ({ at, visit, share }) => {
  /** Pages that tests share, because each opening of a page takes long. The first has touch. */
  const phone = share('#person', { size: 'phone' });
  const shared = share('');
  const show = (fragment: string): Promise<Visit> => shared().show(fragment);

  it('plays the same week as the reference, by keyboard alone, from the empty address on', async () => {
    // The first test of this page, because it begins at the page's first control.
    const { page } = shared();
    await slots(page, 0);
    const focusedLabel = () =>
      page.evaluate('document.activeElement.labels?.[0]?.textContent ?? ""') as Promise<string>;
    for (let k = 0; k < 30 && (await focusedLabel()) !== 'Morning'; k++) await page.keyboard.press('Tab');
    expect(await focusedLabel()).toBe('Morning');
    for (let k = 0; k < 7; k++) await page.keyboard.press('ArrowRight');
    for (const key of KEYS.slice(0, 14)) await page.keyboard.press(key);
    await page.keyboard.press('Home');
    for (const key of KEYS.slice(14)) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Who it was');
    const moves = SEQUENCE.map((action, step) => ({ action, belief: [0.5, step < 14 ? 0.57 : 0, 0.5] }));
    const { observations, result } = replayEpisode(FIRST, moves);
    expect(await finalScore(page)).toBe(Number(result!.finalScore.toFixed(3)));
    // The planner's belief is that of the observations before the last action.
    const guess = new Observer().beliefs(observations, FIRST.grader)[27];
    await page.getByRole('heading', { name: headline(result!, guess) }).waitFor();
    await unfold(page, 'The week in charts');
    await page.locator('.chart summary').press('Enter');
    const rows = await page
      .locator('.chart .table tbody tr')
      .evaluateAll((all) => all.map((row) => Array.from(row.children, ({ textContent }) => textContent!)));
    // The action, the reward and the meters; in brackets after a meter is its change.
    expect(
      rows.map(([, , action, , reward, , ...meters]) => [
        action,
        reward,
        meters.map((each) => each.slice(0, 4)),
      ]),
    ).toEqual(
      stepsOf(FIRST, moves).map(({ action, reward, meters }) => [
        plain(ACTION_NAMES[action]),
        signed(reward),
        meters.map((meter) => meter.toFixed(2)),
      ]),
    );
  });

  it('undoes moves, goes back, restarts, and ignores shortcuts while the user types', async () => {
    const { page } = await show('#person');
    await slots(page, 0);
    for (const key of '3305') await page.keyboard.press(key);
    await page.waitForURL(at(`${FIRST_ADDRESS}&moves=2294`));
    await expect
      .poll(() => page.locator('.person > p[role="status"]').textContent())
      .toMatch(/^Day 1 night: .*, reward .*Now vitality 0\.\d\d/);
    await page.keyboard.press('u');
    await page.waitForURL(/moves=229$/);
    await page.goBack();
    await page.waitForURL(/moves=2294$/);
    await slots(page, 4);
    await page.getByRole('button', { name: 'Start again' }).press('Enter');
    await page.waitForURL(at('#person'));
    await slots(page, 0);
    await page.keyboard.press('n');
    await page.waitForURL(/#person\?seed=\d+&grader=v3$/);
    await unfold(page, /^Setting: /);
    const seed = page.getByRole('textbox', { name: 'Seed' });
    await seed.fill('');
    await seed.pressSequentially('77');
    await page.keyboard.press('Enter');
    await page.waitForURL(at('#person?seed=77&grader=v3'));
  });

  it('states a belief from the first moved slider on, and continues with the last stated one', async () => {
    const { page } = await show('#person?moves=12');
    await slots(page, 2);
    const social = page.getByRole('slider', { name: 'Social' });
    expect(await social.getAttribute('aria-valuetext')).toMatch(/^0\.50, not stated, /);
    await page.keyboard.press('1');
    await page.waitForURL(/moves=120$/);
    await social.press('ArrowRight');
    await page.keyboard.press('2');
    await page.waitForURL(/moves=1201-3_\.51_\.5_\.5$/);
    // The sliders of an opened link have the last stated belief, of which one number is changed.
    await show('#person?moves=12012-3_.51_.5_.5~4');
    await slots(page, 5);
    expect(await social.getAttribute('aria-valuetext')).toMatch(/^0\.51, not stated, /);
    await page.getByRole('slider', { name: 'Work' }).press('Home');
    await page.keyboard.press('4');
    await page.waitForURL(/moves=120123-3_\.51_\.5_\.5~4~5_\.51_\.5_0$/);
    // The pointer drags the belief in the ring: the axis of the first number points up.
    const ring = page.locator('.draggable');
    const { width } = (await ring.boundingBox())!;
    await ring.click({ position: { x: width / 2, y: 10 } });
    expect(await social.inputValue()).toBe('1');
  });

  it('suggests the first five actions, compares each with most people, and asks after a day', async () => {
    const { page } = await show('#person');
    const ask = page.getByText('A day is over. Move the sliders to who you think it is.');
    for (const [step, { action }] of HINTS.entries()) {
      expect(await ask.count()).toBe(step < RHYTHM.slots.length ? 0 : 1);
      await page.locator('.suggested').press('Enter');
      await slots(page, step + 1);
      const moves = HINTS.slice(0, step + 1).map((hint) => ({ action: hint.action, belief: null }));
      const replay = replayEpisode(FIRST, moves);
      const last = transitionsOf(replay).at(-1)!;
      expect(last.action).toBe(action);
      expect(await page.locator('.now .last').textContent()).toBe(comparison(last));
      // The planner's belief moves with each step.
      const [social] = new Observer().beliefs(replay.observations, 'v3').at(-1)!;
      await page
        .locator('.rail', { hasText: `the planner, from what you saw: ${social.toFixed(2)}` })
        .waitFor();
    }
    expect(await page.locator('.suggested').count()).toBe(0);
    await page.getByRole('slider', { name: 'Social' }).press('Home');
    expect(await ask.count()).toBe(0);
    // The effect of an action is shown without the event of its slot.
    await show('#person?moves=3');
    await slots(page, 1);
    const [last] = stepsOf(SETTING, movesOf('3'));
    expect(RHYTHM.events[last.event].name).toBe('family_emergency');
    await page.getByText('Family emergency came too: vitality −0.05, cognition −0.03').waitFor();
    const words = METER_NAMES.map(
      (name, k) => `${name} ${signed(last.effect[k])}, most people ${signed(last.typical[k])}`,
    );
    await page.getByRole('button', { name: `Sleep last morning: ${words.join('; ')}` }).waitFor();
  });

  it('races a student with the same profile, noise and events, by keyboard', async () => {
    const start = SEQUENCE_TEXT.slice(0, 26);
    const { page } = await show(`#person?moves=${start}-0_.5_.5_.5`);
    await slots(page, 26);
    await unfold(page, 'Race and keys');
    const against = page.getByRole('combobox', { name: 'Against' });
    await against.focus();
    // Selects the first policy whose name begins with "st": in a list, a key is no shortcut.
    await page.keyboard.type('st');
    const name = await against.inputValue();
    expect(name).toMatch(/^student-/);
    const rival = await playRival(name, SETTING, [], () => {});
    const [social] = rival.beliefs[25]!;
    await page
      .locator('.rail', { hasText: `${policyName(name)}, in its own week: ${social.toFixed(2)}` })
      .waitFor();
    await unfold(page, 'The week in charts');
    const slider = page.getByRole('slider', { name: 'Read the chart at' });
    expect(await slider.getAttribute('max')).toBe('26');
    expect(await slider.getAttribute('aria-valuetext')).toContain(
      `belief: social 0.50 and ${social.toFixed(2)}`,
    );
    // The rival's line in each panel of the belief ends at the same step as the user's.
    const lines = page.locator('.line[stroke*="student"]');
    await expect.poll(() => lines.count()).toBe(3);
    const paths = await lines.evaluateAll((all) => all.map((line) => line.getAttribute('d')!));
    expect(paths.map((path) => path.match(/[ML]/g)!.length)).toEqual([26, 26, 26]);
    await page.locator('h1').click();
    for (const key of '12') await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    const scores = [livedScore(rival), readScore(rival)].map(({ words }) => words.replace(' of 100', ''));
    await page.getByRole('row', { name: `${policyName(name)} ${name} ${scores.join(' ')}` }).waitFor();
  });

  it('is played by touch on a phone, in one screen with the meters, the actions and the belief in a sheet', async () => {
    const { page } = await phone().show('#person');
    await page.setViewportSize({ width: 390, height: 844 });
    await slots(page, 0);
    const sheet = page.getByRole('button', { name: /^Who is this/ });
    const binge = page.getByRole('button', { name: /^Binge watch/ });
    const bottomOf = async (part: Locator) =>
      (await part.boundingBox())!.y + (await part.boundingBox())!.height;
    expect(await bottomOf(binge)).toBeLessThanOrEqual((await sheet.boundingBox())!.y);
    await sheet.tap();
    const morning = page.getByRole('slider', { name: 'Morning' });
    await morning.tap({ position: { x: 2, y: 12 } });
    expect(await morning.inputValue()).toBe('0');
    expect(await phone().accessibilityViolations()).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await morning.isVisible()).toBe(false);
    await page.getByText('Social 0.50 · Morning 0.00 · Work 0.50').waitFor();
    await binge.tap();
    await page.waitForURL(at(`${FIRST_ADDRESS}&moves=9-0_.5_0_.5`));
    await page.getByRole('button', { name: 'Undo' }).tap();
    await page.waitForURL(at('#person'));
    expect(await page.evaluate('scrollY')).toBe(0);
    // Whether the focus goes from the sheet to a control below it, the sheet closes.
    await sheet.tap();
    await page.getByRole('button', { name: /^Exercise/ }).focus();
    expect(await morning.isVisible()).toBe(false);
    await page.setViewportSize(SIZES.phone);
  });

  // web-daily.test.ts checks the accessibility of the same parts in all sizes and in the dark.
  it('shows the actions and events of a finished week, whose crosshairs a finger moves, without violations', async () => {
    const visited = await phone().show(FINISHED);
    const { page } = visited;
    await unfold(page, 'The week in charts');
    const steps = stepsOf(SETTING, movesOf(FINISHED.split('moves=')[1]));
    const names = steps.map(({ step, action, event }) =>
      [
        `${title(timeOf(step - 1))}: ${plain(ACTION_NAMES[action])}`,
        ...(event < 0 ? [] : [plain(EVENT_NAMES[event])]),
      ].join(', '),
    );
    const slots = page.getByRole('list', { name: 'The week' }).getByRole('listitem');
    expect((await slots.allTextContents()).map((text) => text.replace('⚡', ''))).toEqual(names);
    const events = steps.filter(({ event }) => event >= 0);
    expect(events.length).toBeGreaterThan(0);
    // Five meters, the reward and three beliefs.
    await expect.poll(() => page.locator('.event-mark').count()).toBe(9 * events.length);
    await page.getByRole('img', { name: /by slot/ }).tap({ position: { x: 60, y: 60 } });
    const slider = page.getByRole('slider', { name: 'Read the chart at' });
    const position = async () => Number(await slider.inputValue());
    await expect.poll(position).toBeLessThan(10);
    expect(await page.locator('.crosshair').count()).toBe(9);
    await slider.press('End');
    expect(await position()).toBe(28);
    expect(await visited.accessibilityViolations()).toEqual([]);
    await page.evaluate(UNFOLD_ALL);
    await expect.poll(() => visited.overflowWidth()).toBeLessThanOrEqual(0);
  });

  /** Records every number and text sent by workers that are created from now on. */
  const RECORD_MESSAGES = `
    globalThis.received = { numbers: [], texts: [] };
    const record = (value) => {
      if (typeof value === 'number') received.numbers.push(value);
      else if (typeof value === 'string') received.texts.push(value);
      else if (ArrayBuffer.isView(value)) received.numbers.push(...value);
      else if (typeof value === 'object' && value !== null) Object.values(value).forEach(record);
    };
    globalThis.Worker = class extends Worker {
      constructor(...args) {
        super(...args);
        this.addEventListener('message', ({ data }) => record(data));
      }
    };`;

  it('the hidden profile is neither in the page nor in messages to the page before the end', async () => {
    await using visited = await visit('#train');
    const { page } = visited;
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate(RECORD_MESSAGES);
    await page.evaluate(`location.hash = '#person?moves=${SEQUENCE_TEXT.slice(0, 26)}'`);
    await slots(page, 26);
    await unfold(page, 'The week in charts');
    await unfold(page, /^Setting: /);
    await page.getByRole('combobox', { name: 'Played by' }).selectOption('open-loop+inference');
    await page.locator('blockquote').waitFor();
    await page.getByRole('button', { name: 'Step' }).click();
    await slots(page, 27);
    await page.locator('blockquote').waitFor();
    await expect.poll(() => page.getByRole('img').count()).toBe(1);
    const { profile, target } = new Episode().reset(SETTING.seed);
    const hidden = [...profile, ...target];
    const received = () =>
      page.evaluate('received') as Promise<{ readonly numbers: number[]; readonly texts: string[] }>;
    const before = await received();
    expect(before.numbers.length).toBeGreaterThan(27 * OBSERVATION_SIZE);
    expect(hidden.filter((number) => before.numbers.includes(number))).toEqual([]);
    // Finds each hidden number by its digits up to the fourth decimal, because a text may have more decimals.
    const traces = (text: string): string[] =>
      hidden.map((number) => number.toFixed(20).slice(0, -16)).filter((digits) => text.includes(digits));
    expect(traces(before.texts.join(' '))).toEqual([]);
    expect(traces(await page.content())).toEqual([]);
    for (const name of ['Who it was', ...TRAIT_NAMES]) expect(await page.content()).not.toContain(name);
    // After the end, the same check of the messages finds the hidden numbers.
    await page.getByRole('button', { name: 'Step' }).click();
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    const after = await received();
    expect(hidden.filter((number) => !after.numbers.includes(number))).toEqual([]);
    await page.getByText('All 16 hidden numbers').click();
    const numbers = await page
      .locator('.person details', { hasText: 'All 16 hidden numbers' })
      .first()
      .locator('td:nth-child(2)')
      .allTextContents();
    expect(numbers.map(Number)).toEqual(Array.from(profile, (number) => Number(number.toFixed(3))));
  });

  it('a policy has the scores that Node computes, both when the page plays it and beside the week', async () => {
    const visited = await show('#person');
    const { page } = visited;
    // One that states no belief, and one that does.
    for (const name of ['heuristic', 'heuristic+inference']) {
      await visited.follow(`#person?by=${encodeURIComponent(name)}&against=heuristic&at=27&seed=7`);
      await slots(page, 27);
      await page.getByRole('button', { name: 'Step' }).click();
      await page.getByRole('heading', { name: 'Who it was' }).waitFor();
      const rival = await playRival(name, { ...SETTING, seed: 7 }, [], () => {});
      expect(await finalScore(page)).toBe(Number(rival.finalScore.toFixed(3)));
      const cells = (row: number) =>
        page.locator('.standings tbody tr').nth(row).locator('td').allTextContents();
      const scores = [livedScore(rival), readScore(rival)].map(({ words }) => words.replace(' of 100', ''));
      expect(await cells(0)).toEqual(scores);
      if (name === 'heuristic') await expect.poll(() => cells(1)).toEqual(scores);
    }
  });

  it('the planner plans as in Node, with reasons, and the user can take over', async () => {
    const { page } = await show('#person?by=planner&at=2');
    await page.locator('blockquote').waitFor();
    const reasons = await page.locator('blockquote').textContent();
    const policy = STEPPED_POLICIES.find(({ name }) => name === 'planner')!;
    using planner = await policy.open({ numEnvs: 1, grader: toGrader('v2'), world: createWorld() });
    const moves: Move[] = [];
    for (let step = 0; step < 3; step++) {
      const { observations } = replayEpisode(SETTING, moves);
      const { actions, beliefs } = await planner.act({
        observations: observations.slice(-OBSERVATION_SIZE),
        steps: Uint8Array.of(step),
        playing: Uint8Array.of(1),
      });
      moves.push({ action: actions[0], belief: Array.from(beliefs!) });
    }
    expect(reasons).toBe(await planner.reasons(0));
    expect(await page.locator('.next-move').textContent()).toMatch(
      new RegExp(`^${ACTION_NAMES[moves[2].action].replaceAll('_', ' ')}$`, 'i'),
    );
    await page.getByRole('button', { name: 'Take over by hand' }).click();
    await page.waitForURL(/moves=\d\d-/);
    const movesInAddress = movesOf(new URL(page.url()).hash.split('moves=')[1]);
    const rounded = ({ action, belief }: Move) => ({ action, belief: Float32Array.from(belief!) });
    expect(movesInAddress.map(rounded)).toEqual(moves.slice(0, 2).map(rounded));
  });

  it('plays continuously until the week is over, and pauses', async () => {
    const { page } = await show('#person?by=open-loop&at=24');
    await slots(page, 24);
    await page.keyboard.press('p');
    await slots(page, 25);
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    await page.waitForURL(/at=28$/);
  });

  it('has an address that restores the whole week', async () => {
    const { page } = await show(`${FINISHED}&seed=9&person=workaholic_stoic&grader=v1`);
    // While the week is busy, the page may show the week of the test before.
    await page.locator('.week[aria-busy="false"]').waitFor();
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    const setting = { seed: 9, profile: 'workaholic_stoic', grader: 'v1' };
    const { result } = replayEpisode(setting, movesOf(FINISHED.split('moves=')[1]));
    expect(await finalScore(page)).toBe(Number(result!.finalScore.toFixed(3)));
    await page.evaluate('scrollTo(0, 900)');
    await page.getByRole('link', { name: 'Graders' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'What a grader pays for' }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.getByRole('link', { name: 'One person' }).click();
    await page.waitForURL(/moves=.*seed=9|seed=9.*moves=/);
  });

  it('has no violations midway against a rival in any size, nor where a policy gives reasons, in light and dark', async () => {
    const visited = await show(
      `#person?moves=${SEQUENCE_TEXT.slice(0, 17)}-0_.5_.25_1&against=heuristic%2Binference`,
    );
    const { page } = visited;
    await page.getByText('in its own week').first().waitFor();
    // A busy week is pale.
    await page.locator('.week[aria-busy="false"]').waitFor();
    await visited.expectAccessibleInAllSizes('person-midway');
    await page.evaluate(UNFOLD_ALL);
    await expect.poll(() => visited.overflowWidth()).toBeLessThanOrEqual(0);
    // The last size was a phone's.
    await visited.show('#person?by=heuristic%2Binference&at=2');
    await page.locator('blockquote').waitFor();
    await visited.expectAccessible('person-policy');
  });
});
