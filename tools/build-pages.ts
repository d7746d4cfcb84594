/** The part of `npm run build` that `npm start` does not wait for. */
import { buildApp } from './build/app.ts';
import { buildGuides } from './build/guides.ts';

await Promise.all([buildApp(), buildGuides()]);
