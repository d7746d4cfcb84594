import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ChangesModule } from '../platform/changes/index.js';
import { UsersModule } from '../users/users.module.js';
import { Post } from './post.entity.js';
import { POST_EVENTS } from './post.events.js';
import { PostsController } from './posts.controller.js';
import { PostViews } from './post-views.entity.js';
import { PostLists } from './post-lists.js';
import { PostFieldsResolver } from './post-fields.resolver.js';
import { PostsResolver } from './posts.resolver.js';
import { PostsService } from './posts.service.js';
import { UserPostsController } from './user-posts.controller.js';
import { UserPostsResolver } from './user-posts.resolver.js';
import { ViewCounter } from './view-counter.js';

/** Posts depend on users, never the reverse: fields that posts add to users are defined here. */
@Module({
  imports: [TypeOrmModule.forFeature([Post, PostViews]), ChangesModule.forFeature(POST_EVENTS), UsersModule],
  controllers: [PostsController, UserPostsController],
  providers: [PostsService, PostLists, ViewCounter, PostsResolver, PostFieldsResolver, UserPostsResolver],
  exports: [PostsService],
})
export class PostsModule {}
