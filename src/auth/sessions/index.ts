// What the rest of the service may know of sessions.
export { SessionsModule } from './sessions.module.js';
