// The public interface of sessions.
export { SessionsModule } from './sessions.module.js';
