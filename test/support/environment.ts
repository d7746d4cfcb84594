/** The variables that child processes inherit; nothing else of the environment of the tests reaches them. */
export const environmentOfProcess = (): Record<string, string | undefined> => ({
  // Otherwise they would read the `.env` of whoever runs the tests.
  NODE_ENV: 'test',
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
});
