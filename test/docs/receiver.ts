import { Controller, HttpCode, Injectable, Module, Post, UseGuards } from '@nestjs/common';
import { NotificationVerifier, type VerifiedNotification } from 'nestjs-a2a/client';
import { NotificationGuard, ReceivedNotification } from 'nestjs-a2a/receiver';

/** The tasks that were sent off, each with the token that the agent was given for it. A table, in a real application. */
@Injectable()
export class SentTasks {
  readonly tokens = new Map<string, string>();
}

@Controller()
export class NotificationController {
  @Post('notifications')
  @HttpCode(204)
  @UseGuards(NotificationGuard)
  receive(@ReceivedNotification() { taskId, event }: VerifiedNotification): void {
    if ('statusUpdate' in event) console.log(taskId, event.statusUpdate.status.state);
  }
}

@Module({
  controllers: [NotificationController],
  providers: [
    SentTasks,
    {
      provide: NotificationVerifier,
      inject: [SentTasks],
      useFactory: ({ tokens }: SentTasks) =>
        new NotificationVerifier({
          token: (taskId) => tokens.get(taskId),
          jwksUrl: 'https://agent.example.com/.well-known/jwks.json',
          isExpected: (taskId) => tokens.has(taskId),
        }),
    },
  ],
})
export class ReceiverModule {}
