/** Quick hands for visits to the page, and what holds back what they overtake: scripts that run in it. */
import type { Page } from 'playwright-core';

/**
 * Runs in the page before its own scripts. `quickly` does one thing after the other, a task each, and no frame between
 * them; what they are done with follows it.
 */
export const QUICKLY = `globalThis.quickly = async (...deeds) => {
  for (const deed of deeds) {
    deed();
    await new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done(port1.close());
      port2.postMessage(null);
    });
  }
};
const named = (selector, name) =>
  [...document.querySelectorAll(selector)].find((each) => each.textContent.trim().startsWith(name));
globalThis.press = (name) => () => named('button', name).click();
globalThis.key = (key) => () => dispatchEvent(new KeyboardEvent('keydown', { key }));
globalThis.go = (name) => () => named('nav a', name).click();
const control = (name) => named('label', name).control;
globalThis.choose = (name, value) => () => {
  control(name).value = value;
  control(name).dispatchEvent(new Event('change', { bubbles: true }));
};
globalThis.enter = (name, value) => () => {
  control(name).value = value;
  control(name).dispatchEvent(new Event('input', { bubbles: true }));
};
globalThis.leave = (name) => () => control(name).dispatchEvent(new Event('blur'));`;

/** Runs in the page before its own scripts: the step that a policy takes by itself comes when `due` is called. */
export const HOLD_STEPS = `globalThis.due = null;
const [set, clear] = [setTimeout, clearTimeout];
const HELD = -1;
globalThis.setTimeout = (work, delay, ...rest) => {
  if (delay !== 650) return set(work, delay, ...rest);
  due = work;
  return HELD;
};
globalThis.clearTimeout = (timer) => {
  if (timer === HELD) due = null;
  else clear(timer);
};`;

/** Runs in the page before its own scripts: how far a crowd has come is heard when `late` is called. */
export const HOLD_REPORTS = `const reports = [];
const listen = MessagePort.prototype.addEventListener;
MessagePort.prototype.addEventListener = function (kind, hear) {
  listen.call(this, kind, (event) => reports.push(() => hear.call(this, event)));
};
globalThis.late = () => reports.splice(0).forEach((report) => report());`;

/** Runs in the page before its own scripts: what a policy does next is heard when `answer` is called. */
export const HOLD_ADVICE = `const answers = [];
globalThis.Worker = class extends Worker {
  addEventListener(kind, hear, ...rest) {
    super.addEventListener(kind, (event) => {
      if (event.data?.value?.value?.reasons === undefined) hear.call(this, event);
      else answers.push(() => hear.call(this, event));
    }, ...rest);
  }
};
globalThis.answer = () => {
  if (answers.length === 0) return false;
  answers.shift()();
  return true;
};`;

/** Runs in the page before its own scripts: counts what is to be drawn, of which nothing is drawn before `draw` is called. */
export const HOLD_DRAWINGS = `globalThis.asked = 0;
const waiting = [];
globalThis.Worker = class extends Worker {
  constructor(url, options) {
    super(url, options);
    this.draws = options.name === 'drawing';
  }
  postMessage(...message) {
    if (!this.draws) return super.postMessage(...message);
    asked += 1;
    waiting.push(() => super.postMessage(...message));
  }
};
globalThis.draw = () => waiting.splice(0).forEach((send) => send());`;

/** Does all this, and says what the page is then like. @param deeds calls of what QUICKLY has, in JavaScript. */
export const quickly = <T>(page: Page, deeds: string, found = 'location.hash'): Promise<T> =>
  page.evaluate(`quickly(${deeds}).then(() => ${found})`) as Promise<T>;
