/** Replaces web/src/engine/crowd/gpu-rules.ts in the page of the tests: crowds are played on SwiftShader. */
export const GPU_RULES = { acceptsSoftware: true, isFaster: (): boolean => true };
