import { Injectable } from '@nestjs/common';
import { ConnectionLimit } from '../platform/http/edge/connection-limit.js';

/** Limits the connected consumers: streams, and subscriptions over GraphQL. */
@Injectable()
export class ConsumerLimits extends ConnectionLimit {
  constructor() {
    super('streams of events');
  }
}
