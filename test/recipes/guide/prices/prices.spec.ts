import { expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { PricesService } from './prices.service.js';
import { RatesClient } from './rates.client.js';

const pricesAt = async (rate: number): Promise<PricesService> => {
  const module = await Test.createTestingModule({
    providers: [PricesService, { provide: RatesClient, useValue: { rate: async () => rate } }],
  }).compile();
  return module.get(PricesService);
};

it('converts to whole cents', async () => {
  expect(await (await pricesAt(1.2345)).convert(1000, 'EUR')).toBe(1235);
});

it.each(['eur', 'EURO', ''])('rejects the currency %j', async (currency) => {
  await expect((await pricesAt(1)).convert(1000, currency)).rejects.toThrow('three capital letters');
});
