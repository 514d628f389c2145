/** Scripts that run in the page: fast input, and hooks that delay steps, announcements and progress reports. */
import type { Page } from 'playwright-core';

/**
 * Runs in the page before its own scripts. `fastInput` runs inputs one after the other, each as a task of the event loop, usually
 * faster than the page draws a frame. The other functions create inputs. The input `() => {}` only lets the page run other tasks.
 */
export const FAST_INPUT = `globalThis.fastInput = async (...inputs) => {
  for (const input of inputs) {
    input();
    await new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done(port1.close());
      port2.postMessage(null);
    });
  }
};
const named = (selector, name) =>
  [...document.querySelectorAll(selector)].find((element) => element.textContent.trim().startsWith(name));
globalThis.press = (name) => () => named('button', name).click();
globalThis.key = (key) => () => dispatchEvent(new KeyboardEvent('keydown', { key }));
globalThis.tick = (name) => () => named('label', name).control.click();
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

/**
 * Runs in the page before its own scripts: delays the next step of continuous play, which is due after PACE (650 ms,
 * web/src/views/person/board.tsx), until `due` is called, and its announcements (after 1000 ms, week.tsx) forever.
 */
export const DELAY_STEPS = `globalThis.held = {};
globalThis.due = () => held[650]?.();
const [set, clear] = [setTimeout, clearTimeout];
globalThis.setTimeout = (work, delay, ...rest) => {
  if (delay !== 650 && delay !== 1000) return set(work, delay, ...rest);
  held[delay] = () => {
    delete held[delay];
    work();
  };
  return -delay;
};
globalThis.clearTimeout = (timer) => {
  if (held[-timer]) delete held[-timer];
  else clear(timer);
};`;

/** Runs in the page before its own scripts: holds progress reports until `answer(count)` lets the next `count` of them through. */
export const HOLD_REPORTS = `const listen = MessagePort.prototype.addEventListener;
const reports = [];
let due = 0;
const give = () => { for (; due > 0 && reports.length > 0; due -= 1) reports.shift()(); };
globalThis.answer = (count) => { due += count; give(); };
MessagePort.prototype.addEventListener = function (kind, listener) {
  listen.call(this, kind, (event) => { reports.push(() => listener.call(this, event)); give(); });
};`;

/**
 * Runs inputs in the page.
 * @param inputs JavaScript calls of the functions of FAST_INPUT, separated by commas.
 * @param result a JavaScript expression.
 * @returns the value of `result` after the inputs.
 */
export const fastInput = <T>(page: Page, inputs: string, result = 'location.hash'): Promise<T> =>
  page.evaluate(`fastInput(${inputs}).then(() => ${result})`) as Promise<T>;
