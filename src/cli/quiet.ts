/** Stores whether --quiet is given. commands.ts sets it before a command loads its modules. */
let quiet = false;

export const isQuiet = (): boolean => quiet;

export const setQuiet = (value: boolean): void => {
  quiet = value;
};
