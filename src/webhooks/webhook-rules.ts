import { Injectable } from '@nestjs/common';
import type { FieldError } from '../platform/http/errors/errors.js';
import type { FurtherRules } from '../platform/http/validation/further-rules.js';
import { Config } from '../platform/config/config.js';
import { EventTypes } from '../platform/changes/index.js';

/** Stands for all types of events. */
const ALL = '*';

interface Fields {
  readonly url?: string | null;
  readonly types?: readonly string[] | null;
}

/** The rules of a webhook that depend on the configuration, and on the modules that define events. */
@Injectable()
export class WebhookRules implements FurtherRules {
  constructor(
    private readonly config: Config,
    private readonly types: EventTypes,
  ) {}

  faults({ url, types }: Fields): FieldError[] {
    const faults = {
      url: url == null ? undefined : this.urlFault(url),
      types: types == null ? undefined : this.typesFault(types),
    };
    return Object.entries(faults).flatMap(([field, fault]) =>
      fault === undefined ? [] : [{ field, message: `${field} ${fault}` }],
    );
  }

  private urlFault(url: string): string | undefined {
    const protocols = this.config.production ? ['https:'] : ['https:', 'http:'];
    // The parser would accept and repair addresses with spaces or missing slashes.
    const [, authority] = /^[a-z]+:\/\/([^\s\\/?#]+)[^\s\\]*$/i.exec(url) ?? [];
    if (authority === undefined || !URL.canParse(url))
      return 'must be an absolute address such as https://receiver.example.com/events';
    const { protocol, hostname } = new URL(url);
    if (!protocols.includes(protocol) || hostname === '')
      return `must begin with ${protocols.map((each) => `${each}//`).join(' or ')}`;
    if (authority.includes('@')) return 'must not contain credentials';
    return url.includes('#') ? 'must not contain a fragment' : undefined;
  }

  private typesFault(types: readonly string[]): string | undefined {
    if (types.includes(ALL))
      return types.length > 1 ? `must not contain other types besides ${ALL}` : undefined;
    const unknown = types.find((type) => !this.types.has(type));
    return unknown === undefined ? undefined : `must be ${ALL}, or some of ${this.types.all.join(', ')}`;
  }
}
