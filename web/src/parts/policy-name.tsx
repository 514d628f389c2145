/** The visitor's name of a policy, with its code name as a subtitle. */
import { policyName } from '../words.js';

export function PolicyName({ of: code }: { readonly of: string }) {
  const name = policyName(code);
  return (
    <span class="policy-name">
      {name}
      {name !== code && <small> {code}</small>}
    </span>
  );
}
