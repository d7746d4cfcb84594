import { Global, Module } from '@nestjs/common';
import { Clock } from './clock/clock.js';
import { Purger } from './purge/purger.js';

/** What every module may ask for. */
@Global()
@Module({ providers: [Clock, Purger], exports: [Clock, Purger] })
export class CommonModule {}
