/** Exports of `rhythm-vec/agents` for every platform: inference, beliefs of policies, students, open-loop sequences. */

export { Inference, type InferenceOptions } from '../../agents/inference/inference.js';
export type {
  Estimate,
  Factor,
  Finding,
  InferenceReport,
  StepFindings,
  TargetEstimate,
} from '../../agents/inference/inference-report.js';
export { inferenceWords } from '../../agents/inference/inference-words.js';
export type { BeliefError } from '../../agents/inference/samples.js';
export { openLoopActions } from '../../agents/policies/open-loop.js';
export { withConstant, withInference } from '../../agents/policies/with-belief.js';
export { loadStudent, STUDENT_NAMES, type StudentName } from '../../agents/student/packaged-students.js';
export { readStudent, type Student } from '../../agents/student/student.js';
export type { StudentManifest } from '../../agents/student/student-file.js';
