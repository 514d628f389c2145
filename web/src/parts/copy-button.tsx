/** Buttons that copy a text or the link to a view. */
import { useSignal } from '@preact/signals';
import type { Addressed } from '../address.js';
import { linkTo } from '../current-address.js';
import { Button } from './controls.js';

interface CopyButtonProps {
  readonly label: string;
  readonly text: string;
  /** What to do if the browser refuses. */
  readonly otherwise?: string;
  /** Whether it is the main button of its group. */
  readonly main?: boolean;
}

/** The button, and a message beside it until the text changes. */
export function CopyButton({ label, text, otherwise = 'Select the text.', main }: CopyButtonProps) {
  const last = useSignal({ text: '', message: '' });
  const copy = async (): Promise<void> => {
    let message = 'Copied.';
    try {
      // Also throws over plain http, where `navigator.clipboard` is undefined.
      await navigator.clipboard.writeText(text);
    } catch {
      message = `This browser does not let the page copy. ${otherwise}`;
    }
    last.value = { text, message };
  };
  return (
    <>
      <Button main={main} onClick={() => void copy()}>
        {label}
      </Button>
      <span role="status">{last.value.text === text && last.value.message}</span>
    </>
  );
}

/** Copies the address of a view in its current state. */
export const CopyLink = ({ view }: { readonly view: Addressed }) => (
  <CopyButton
    label="Copy the link"
    text={new URL(linkTo(view), location.href).href}
    otherwise="Copy the address of the page."
  />
);
