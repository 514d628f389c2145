/** The end of the page, which shows the backend in use. */
import { backendFailure, currentBackend } from './client.js';

const NAMES = { webgpu: 'WebGPU', wasm: 'WebAssembly', reference: 'the reference' };

export function EngineStatus() {
  const chosen = currentBackend.value;
  if (backendFailure.value !== null)
    return <p class="engine">The worker that computes crowds could not be started.</p>;
  if (chosen === null) return <p class="engine">Looking for a graphics device …</p>;
  const { name, adapter, software, exact, noDeviceReason } = chosen;
  return (
    <div class="engine">
      <p>
        Computed in this browser by <strong>{NAMES[name]}</strong>
        {adapter !== null && ` on ${adapter}`}
        {software && ' (a graphics device emulated by the processor)'}.{' '}
        <span class="exact">{exact ? 'bit-exact' : 'not bit-exact'}</span>
      </p>
      {noDeviceReason === null ? (
        <p class="fine">
          When the page opened the device, the device and the reference computed 384 episodes, and every bit
          was the same.
        </p>
      ) : (
        <details>
          <summary>Why not WebGPU?</summary>
          <p class="fine">The processor computes instead, in a worker. {noDeviceReason}</p>
        </details>
      )}
    </div>
  );
}
