/** Long work that lets others have their turn. */

/**
 * Settles after the timers, messages and clicks that wait have been dealt with: a promise alone would keep them waiting.
 * At once if none do, which a timer would not.
 */
export const othersTurn = (): Promise<void> =>
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
