import { Injectable } from '@nestjs/common';
import { AppError } from '../../../../src/platform/http/errors/errors.js';
import { RatesClient } from './rates.client.js';

@Injectable()
export class PricesService {
  constructor(private readonly rates: RatesClient) {}

  /** In whole cents. @throws AppError `VALIDATION_ERROR`, `SERVICE_UNAVAILABLE` */
  async convert(cents: number, currency: string): Promise<number> {
    if (!/^[A-Z]{3}$/.test(currency)) {
      throw new AppError('VALIDATION_ERROR', 'The currency must be three capital letters (ISO 4217)');
    }
    return Math.round(cents * (await this.rates.rate(currency)));
  }
}
