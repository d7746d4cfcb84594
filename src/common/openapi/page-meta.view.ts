import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** `meta` of a page in the reference; see `PageMeta`. */
@ApiSchema({ name: 'PageMeta' })
export class PageMetaView {
  @ApiProperty({
    type: 'integer',
    format: 'int64',
    description: 'The number of items on all pages.',
    example: 42,
  })
  total!: number;

  @ApiProperty({ type: 'integer', format: 'int64', example: 1 })
  page!: number;

  @ApiProperty({ type: 'integer', example: 20 })
  limit!: number;

  @ApiProperty({ example: true })
  has_next!: boolean;
}
