/** Yields to the event loop during long work. */

/**
 * Resolves after the pending timers, messages and clicks were handled. A resolved promise would not let them run, and a
 * timer would wait even if nothing is pending.
 */
export const yieldTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else throughChannel(resolve);
  });

function throughChannel(resolve: () => void): void {
  const { port1, port2 } = new MessageChannel();
  const arrived = (): void => {
    port1.close();
    resolve();
  };
  port1.addEventListener('message', arrived);
  port1.start();
  port2.postMessage(null);
}
