import { randomBytes } from 'node:crypto';
import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { JwtModule } from '@nestjs/jwt';
import { DevelopmentTokens } from './development-tokens.js';

const ISSUER = 'https://auth.invoices.example.com';
const AUDIENCE = 'https://invoices.example.com';

@Module({
  imports: [
    JwtModule.registerAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        // Without a secret of its own, the application's tokens end with its process.
        secret: config.get<string>('JWT_SECRET') || randomBytes(32).toString('hex'),
        signOptions: { algorithm: 'HS256', issuer: ISSUER, audience: AUDIENCE, expiresIn: '12h' },
        verifyOptions: { algorithms: ['HS256'], issuer: ISSUER, audience: AUDIENCE },
      }),
    }),
  ],
  providers: [DevelopmentTokens],
  exports: [JwtModule, DevelopmentTokens],
})
export class AuthModule {}
