/** The end of the page, which shows what computed the last crowd. */
import { computedBy, whyNoGpu } from './client.js';
import type { ComputedBy } from './crowd/crowd-request.js';

export function EngineStatus() {
  const last = computedBy.value;
  if (last === null) return <p class="engine">Everything is computed in this browser.</p>;
  return (
    <div class="engine">
      <p>
        Computed in this browser by <strong>{wordsOf(last)}</strong>. <span class="exact">bit-exact</span>
      </p>
      {whyNoGpu.value !== null && (
        <details>
          <summary>Why not WebGPU?</summary>
          <p class="fine">{whyNoGpu.value} The digests are the same on every backend.</p>
        </details>
      )}
    </div>
  );
}

function wordsOf({ backend, adapter, lanes }: ComputedBy): string {
  if (adapter !== null) return `WebGPU on ${adapter}`;
  return `${backend === 'wasm' ? 'WebAssembly' : 'the reference'} in ${lanes === 1 ? 'a worker' : `${lanes} workers`}`;
}
