/** Runs a statement in a span. @param system its name in OpenTelemetry's conventions @param text without values */
type TraceStatement = <T>(system: string, text: string, run: () => T) => T;

let traceStatement: TraceStatement | undefined;

/** Sets the tracer of every statement of this process. */
export function traceStatementsBy(next: TraceStatement | undefined): void {
  traceStatement = next;
}

/** Runs a statement, in a span if statements are traced. */
export const traced = <T>(system: string, text: string, run: () => T): T =>
  traceStatement === undefined ? run() : traceStatement(system, text, run);
