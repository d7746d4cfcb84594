/**
 * Does in a copy of the project what the guides show to a team on its first day, on top of each other: modules, a nested
 * one, a durable subscriber, a field of posts, an interceptor and a guard for all handlers, and the recipe of roles, which
 * another module uses. All checks pass, and so do the tests of what this touches, without a change to a file of the
 * platform or of its tests. Part of `npm run test:extra`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CopyOfProject } from '../support/copy-of-project.ts';

/** Of the modules, and of what knows all modules, fields, subscribers and handlers. */
const TESTS = [
  'invoices',
  'comments',
  'roles',
  'test/posts',
  'graphql-posts',
  'test/database',
  'reference.e2e',
  'audit-routes',
  'audit.e2e',
  'event-subscribers',
  'idempotency.e2e',
  'inputs',
  'make-module',
  'metrics',
  'playground',
  'security-log',
  'unit-of-work',
  'taken-names',
];

/** A module as the documentation of Nest shows it, with a subscriber as docs/subscribers.md does. */
const MODULE = `import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  HttpStatus,
  Injectable,
  Logger,
  Module,
  type NestInterceptor,
  Post,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, Reflector } from '@nestjs/core';
import { Args, GqlExecutionContext, ID, Mutation, Resolver } from '@nestjs/graphql';
import { ApiOperation } from '@nestjs/swagger';
import { type Observable, tap } from 'rxjs';
import { Roles as EditorRoles } from '../roles/roles.guard.js';
import { OnDurableEvent, type StoredEvent } from '../platform/changes/index.js';
import { InvoicesModule } from '../invoices/invoices.module.js';
import { InvoicesService } from '../invoices/invoices.service.js';
import { InvoiceView, toInvoiceView } from '../invoices/invoice.view.js';
import { ReturnsData, Throws } from '../platform/http/openapi/returns.js';
import { Id } from '../platform/http/validation/id.js';

const Roles = Reflector.createDecorator<string[]>();

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const roles = this.reflector.getAllAndOverride(Roles, [context.getHandler(), context.getClass()]);
    if (!roles) return true;
    const request =
      context.getType<string>() === 'graphql'
        ? GqlExecutionContext.create(context).getContext().req
        : context.switchToHttp().getRequest();
    return roles.includes(request.user?.role);
  }
}

@Injectable()
class LoggingInterceptor implements NestInterceptor {
  private readonly logger = new Logger(LoggingInterceptor.name);

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const start = Date.now();
    return next
      .handle()
      .pipe(tap(() => this.logger.log(\`\${context.getHandler().name} took \${Date.now() - start} ms\`)));
  }
}

@Injectable()
class SearchIndex {
  private readonly logger = new Logger(SearchIndex.name);

  @OnDurableEvent({ name: 'search-index', types: ['invoice.created', 'invoice.updated', 'invoice.deleted'] })
  index({ type, subject }: StoredEvent): void {
    this.logger.log(\`\${type} \${subject}\`);
  }
}

/** The role of a recipe, used by another module. */
@Controller({ path: 'editors', version: '1' })
class EditorsController {
  @Get()
  @EditorRoles(['editor'])
  @Throws('FORBIDDEN')
  @ApiOperation({ summary: 'Reads what editors may read' })
  read(): { data: string } {
    return { data: 'For editors' };
  }
}

/** A change of another module's rows, which needs the role and an id. */
@Controller({ path: 'invoices', version: '1' })
class ApprovalsController {
  constructor(private readonly invoices: InvoicesService) {}

  @Post(':id/approve')
  @EditorRoles(['editor'])
  @HttpCode(HttpStatus.OK)
  @ReturnsData(InvoiceView)
  @Throws({ NOT_FOUND: 'Invoice not found' }, 'FORBIDDEN')
  @ApiOperation({ summary: 'Approves an invoice' })
  async approve(@Id() id: number): Promise<{ data: InvoiceView }> {
    return { data: toInvoiceView(await this.invoices.update(id, { rating: 5 })) };
  }
}

@Resolver()
class ApprovalsResolver {
  constructor(private readonly invoices: InvoicesService) {}

  @Mutation(() => InvoiceView, { description: 'Approves an invoice.' })
  @EditorRoles(['editor'])
  async approveInvoice(@Args('id', { type: () => ID }) id: string): Promise<InvoiceView> {
    return toInvoiceView(await this.invoices.update(Number(id), { rating: 5 }));
  }
}

@Module({
  imports: [InvoicesModule],
  controllers: [EditorsController, ApprovalsController],
  providers: [
    SearchIndex,
    ApprovalsResolver,
    { provide: APP_GUARD, useClass: RolesGuard },
    { provide: APP_INTERCEPTOR, useClass: LoggingInterceptor },
  ],
})
export class FirstDayModule {}
`;

const MIGRATION = `import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

export class PostSubtitle1999000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(\`ALTER TABLE posts ADD COLUMN subtitle \${columnTypes(runner).text}\`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE posts DROP COLUMN subtitle');
  }
}
`;

const taken = ['invoices', 'comments', 'roles', 'first-day'].filter((name) => existsSync(`src/${name}`));
if (taken.length > 0) {
  console.log(`SKIPPED: a first day, because the service has modules with its names: ${taken.join(', ')}`);
  process.exit(0);
}

const copy = CopyOfProject.untilExit();
await copy.script('make:module', 'invoices', 'text:text rating:int? status:enum(open,done)');
if (existsSync('src/posts')) {
  await copy.script('make:module', 'comments', 'text:text', '--parent', 'posts', '--owner', 'account');
  addSubtitle();
}
copy.write('src/first-day/first-day.module.ts', MODULE);
copy.edit('src/app.module.ts', [
  [/(?=\n\/\*\*\n \* All modules)/, `import { FirstDayModule } from './first-day/first-day.module.js';\n`],
  [/(?<=\n    AuditModule,)/, '\n    FirstDayModule,'],
]);
await copy.script('recipe', 'roles');
console.log('Modules, a subscriber, a field, an interceptor, a guard and a recipe are added');

await copy.script('format');
await copy.script('contracts');
await copy.script('check:code');
const schema = readFileSync(join(copy.folder, 'schema.gql'), 'utf8');
if (!schema.includes('Creates an invoice')) throw new Error('The schema has the wrong article of invoices');
console.log('npm run check:code passes');
await copy.test('--silent', ...TESTS);
console.log('The tests of what they touch pass');

/** The places that docs/extending.md names. */
function addSubtitle(): void {
  copy.write('src/platform/database/migrations/1999000000000-post-subtitle.ts', MIGRATION);
  copy.edit('src/posts/post.entity.ts', [
    [
      /(?=\n  @TextColumn\('content'\))/,
      `\n  @TextColumn('subtitle', { nullable: true })\n  subtitle!: string | null;\n`,
    ],
  ]);
  copy.edit('src/posts/post.view.ts', [
    [
      /(?=\n  \/\*\* In GraphQL, `PostFieldsResolver`)/,
      `\n  @Field(() => String, { nullable: true, description: 'At most 100 characters.' })
  @ApiProperty({ type: 'string', nullable: true, example: 'Ein Sprichwort' })\n  readonly subtitle!: string | null;\n`,
    ],
    [/(?<=\n  title: true,)/, '\n  subtitle: true,'],
  ]);
  copy.edit('src/posts/post.input.ts', [
    [
      /(?=\n  @Field\(\{ description: 'At least one character)/,
      `\n  @Field(() => String, { nullable: true, description: 'At most 100 characters.' })
  @ApiProperty({ example: 'Ein Sprichwort' })\n  @OptionalField()\n  @Text({ max: 100 })\n  subtitle?: string | null;\n`,
    ],
  ]);
  copy.edit('test/posts.e2e-spec.ts', [
    [/(?<=\n          title: 'First',)/, '\n          subtitle: null,'],
    [/(?<=\n        'title',)/, `\n        'subtitle',`],
  ]);
}
