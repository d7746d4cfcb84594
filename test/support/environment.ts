/** What each process of ours needs; nothing else of the environment of the tests reaches it. */
export const environmentOfProcess = (): Record<string, string | undefined> => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
});
