/// <reference types="@webgpu/types" />
/** WebGPU in browsers: `navigator.gpu`, where there is one and the page is served over HTTPS or from localhost. */
export async function findBrowserGpu(): Promise<GPU | null> {
  const { navigator } = globalThis as { navigator?: { gpu?: GPU } };
  return navigator?.gpu ?? null;
}
