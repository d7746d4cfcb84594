import './require-node.js';

try {
  const { parseFlags } = await import('./commands/support/command-line.js');
  parseFlags('Usage: npm start\n\nSettings are environment variables; docs/configuration.md lists them.', {});
  // Loaded after the check: an older Node.js would report a syntax error or a missing export instead.
  const { loadConfig } = await import('./platform/config/load-config.js');
  const { readEnvFile } = await import('./platform/config/env-file.js');
  const inEnvFile = readEnvFile(process.env);
  const config = loadConfig(process.env);
  // The application takes seconds to load: an invalid setting is reported before.
  const { start } = await import('./start.js');
  await start(config, (port) => loadConfig({ ...process.env, PORT: String(port) }), inEnvFile);
} catch (error) {
  const { explainStartFailure } = await import('./platform/operations/start-failure.js');
  const { flushLog } = await import('./platform/operations/log-output.js');
  await flushLog();
  console.error(explainStartFailure(error));
  process.exit(1);
}
