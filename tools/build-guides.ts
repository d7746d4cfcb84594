/** The part of `npm run build` that `npm start` does not wait for. */
import { buildGuides } from './build/guides.ts';

await buildGuides();
