/** Whether --quiet is given. It is known when a command begins, before its modules are loaded. */
let quiet = false;

export const isQuiet = (): boolean => quiet;

export const setQuiet = (value: boolean): void => {
  quiet = value;
};
