import { Body, Controller, Module, Post } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { Public } from '../../src/auth/access/index.js';
import { Text } from '../../src/common/validation/text.js';

class ProbeInput {
  @Text({ min: 1, max: 150 })
  name!: string;

  @IsOptional()
  @Text({ max: 20 })
  phone?: string;
}

@Controller({ path: 'probes', version: '1' })
@Public()
class ProbeController {
  @Post()
  create(@Body() input: ProbeInput): ProbeInput {
    return input;
  }
}

/** A route like that of a new module, for the rules of all routes other than posts. */
@Module({ controllers: [ProbeController] })
export class ProbeModule {}
