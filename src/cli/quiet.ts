/** Stores whether --quiet is given. A command sets it when it begins, before its modules are loaded. */
let quiet = false;

export const isQuiet = (): boolean => quiet;

export const setQuiet = (value: boolean): void => {
  quiet = value;
};
