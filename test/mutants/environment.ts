import NativeEnvironment from '../jest/environment.ts';

/** Ends a test file at its first failure. */
export default class FirstFailure extends NativeEnvironment {
  private hasFailed = false;

  override handleTestEvent(
    event: { name: string; test?: { mode?: string | null } },
    state: { unhandledErrors: unknown[] },
  ): void {
    super.handleTestEvent(event, state);
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.hasFailed = true;
    if (event.name === 'test_start' && this.hasFailed) event.test!.mode = 'skip';
  }
}
