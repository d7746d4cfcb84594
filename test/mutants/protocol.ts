/** Instead of the number of a fault: none is planted. */
export const NONE = -1;

export interface Job {
  /** The number of the fault, or {@link NONE}. */
  readonly fault: number;
  readonly files: readonly string[];
}

export interface Outcome {
  readonly job: Job;
  /** The first file with a failure. */
  readonly failed: string | undefined;
  /** The faults whose places the files have reached. */
  readonly reached: readonly number[];
  readonly seconds: number;
}
