import { Injectable } from '@nestjs/common';

/** The current time, for everything that expires; tests move it instead of waiting. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }
}
