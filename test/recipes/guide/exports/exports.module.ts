import {
  applyDecorators,
  type CanActivate,
  Controller,
  Get,
  Header,
  Injectable,
  mixin,
  Module,
  NotFoundException,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Public } from '../../../../src/auth/access/index.js';
import { ReturnsText, Throws } from '../../../../src/common/openapi/returns.js';
import { Config } from '../../../../src/config/config.js';
import { Post } from '../../../../src/posts/post.entity.js';

function featureGuard(name: string): Type<CanActivate> {
  @Injectable()
  class FeatureGuard implements CanActivate {
    constructor(private readonly config: Config) {}

    canActivate(): boolean {
      if (!this.config.features.has(name)) throw new NotFoundException();
      return true;
    }
  }
  return mixin(FeatureGuard);
}

/** The handlers are 404 unless `FEATURES` names the feature. */
const Feature = (name: string): ClassDecorator & MethodDecorator =>
  applyDecorators(UseGuards(featureGuard(name)));

@ApiTags('Exports')
@Controller({ path: 'exports', version: '1' })
@Public()
@Feature('exports')
class ExportsController {
  constructor(@InjectRepository(Post) private readonly posts: Repository<Post>) {}

  @Get('titles')
  @Header('Content-Type', 'text/plain; charset=utf-8')
  @ApiOperation({ summary: 'The titles of the newest hundred posts, one per line' })
  @ReturnsText('text/plain', 'One title per line.')
  @Throws({ NOT_FOUND: 'Not Found' })
  async titles(): Promise<string> {
    const posts = await this.posts.find({ select: { title: true }, order: { id: 'DESC' }, take: 100 });
    return posts.map(({ title }) => `${title}\n`).join('');
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Post])], controllers: [ExportsController] })
export class ExportsModule {}
