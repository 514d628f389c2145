/** What computes here, in a line at the page's end. */
import { engineFailure, shownEngine } from './client.js';

export function EngineLine() {
  const engine = shownEngine.value;
  if (engineFailure.value !== null) return <p class="engine">What computes crowds could not be started.</p>;
  if (engine === null) return <p class="engine">Looking for a graphics device …</p>;
  const { backend, adapter, software, exact, whyNoDevice } = engine;
  return (
    <div class="engine">
      <p>
        Computed in this browser by <strong>{backend === 'webgpu' ? 'WebGPU' : 'the reference'}</strong>
        {adapter !== null && ` on ${adapter}`}
        {software && ' (a processor that pretends to be a graphics device)'}.{' '}
        <span class="exact">exact: {String(exact)}</span>
      </p>
      <p class="fine">
        {whyNoDevice === null
          ? 'When it was opened, 384 episodes were lived on it and on the reference, and every bit was the same.'
          : `The reference is plain TypeScript in a worker. Why not WebGPU: ${whyNoDevice}`}
      </p>
    </div>
  );
}
