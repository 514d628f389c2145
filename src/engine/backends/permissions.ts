/** Recognises the errors of a runtime that was started without a permission. */

/** Returns whether the runtime may not read a file: Node with its permission model, or Deno. */
export const isDenied = (error: unknown): boolean =>
  codeOf(error) === 'ERR_ACCESS_DENIED' || (error as Error).name === 'NotCapable';

/**
 * Returns the flags that allow to load an addon.
 * @param folder the folder to read. @returns null for an error of another kind.
 */
export function permissionRemedy(error: unknown, folder: string): string | null {
  if (codeOf(error) === 'ERR_DLOPEN_DISABLED')
    return 'Run node with --allow-addons, and without --no-addons.';
  if (!isDenied(error)) return null;
  return codeOf(error) === 'ERR_ACCESS_DENIED'
    ? `Run node with --allow-addons and --allow-fs-read=${folder}.`
    : 'Run deno with --allow-read and --allow-ffi, and with --allow-env if RHYTHM_ADDON is set.';
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
