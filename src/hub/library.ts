/** The Hub's own library, loaded when something is uploaded: who uploads nothing need not have it. */
import { load } from '../libraries.js';

export type HubLibrary = typeof import('@huggingface/hub');

/** @throws LibraryError `library_missing`. */
export const loadHub = (): Promise<HubLibrary> =>
  load('uploads', ['@huggingface/hub@2'], () => import('@huggingface/hub'));
