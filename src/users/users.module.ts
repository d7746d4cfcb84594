import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ChangesModule } from '../platform/changes/index.js';
import { User } from './user.entity.js';
import { USER_EVENTS } from './user.events.js';
import { UsersV1Controller } from './users-v1.controller.js';
import { UsersV2Controller } from './users-v2.controller.js';
import { UsersResolver } from './users.resolver.js';
import { UsersService } from './users.service.js';

/** Public profiles. People log in with accounts, which are separate. */
@Module({
  imports: [TypeOrmModule.forFeature([User]), ChangesModule.forFeature(USER_EVENTS)],
  controllers: [UsersV1Controller, UsersV2Controller],
  providers: [UsersService, UsersResolver],
  exports: [UsersService],
})
export class UsersModule {}
