import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { Public } from '../../src/platform/access/index.js';
import { Page } from '../../src/platform/http/pages/page.js';
import { Text } from '../../src/platform/http/validation/text.js';

class ProbeInput {
  @Text({ min: 1, max: 150 })
  name!: string;

  @IsOptional()
  @Text({ max: 20 })
  phone?: string;

  get initials(): string {
    return this.name.charAt(0);
  }
}

@Controller({ path: 'probes', version: '1' })
@Public()
class ProbeController {
  @Post()
  create(@Body() input: ProbeInput): ProbeInput {
    return input;
  }

  /** Forgets `paged()`, and thereby the `Link` of the page. */
  @Get()
  list(): Page<number> {
    return new Page([1], { total: 1, page: 1, limit: 20, has_next: false });
  }
}

/** A route like that of a new module, for the rules of all routes other than posts. */
@Module({ controllers: [ProbeController] })
export class ProbeModule {}
