import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { SERVICE } from '../../config/package.js';

interface PageLink {
  readonly href: string;
  readonly title: string;
}

export const LINKS = {
  reference: { href: '/docs', title: 'The reference of the REST API, to read and to try out' },
  playground: { href: '/graphql', title: 'The playground of the GraphQL API' },
  guides: { href: '/guides', title: 'Guides, errors and decisions' },
  health: { href: '/health/ready', title: 'Whether to send requests here' },
} as const;

const LINK = {
  type: 'object' as const,
  properties: { href: { type: 'string' as const }, title: { type: 'string' as const } },
  required: ['href', 'title'],
  additionalProperties: false,
};

/** The properties of this service. */
@ApiSchema({ name: 'Home' })
export class HomeView {
  @ApiProperty({ example: SERVICE.title })
  readonly name!: string;

  @ApiProperty({ example: '1.0.0' })
  readonly version!: string;

  @ApiProperty({ enum: ['ok', 'unavailable'] })
  readonly status!: 'ok' | 'unavailable';

  @ApiProperty({
    type: 'object',
    properties: Object.fromEntries(Object.keys(LINKS).map((name) => [name, LINK])),
    // Settings may hide the others.
    required: ['health'],
    additionalProperties: false,
  })
  readonly links!: Readonly<Partial<Record<keyof typeof LINKS, PageLink>>>;
}
