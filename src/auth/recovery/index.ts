// The public interface of recovery.
export { RecoveryModule } from './recovery.module.js';
