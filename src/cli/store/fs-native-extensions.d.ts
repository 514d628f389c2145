declare module 'fs-native-extensions' {
  /** Locks a whole file that is open for writing. @returns false if it is locked elsewhere. */
  export function tryLock(fd: number): boolean;
}
