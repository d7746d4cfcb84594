import { Controller, Get, Module, type OnModuleInit, Param } from '@nestjs/common';
import { ApiOperation, ApiSchema, ApiTags } from '@nestjs/swagger';
import { Public } from '../../../../src/platform/access/index.js';
import { Int64Property } from '../../../../src/platform/http/openapi/properties.js';
import { Returns, Throws } from '../../../../src/platform/http/openapi/returns.js';
import { Readiness } from '../../../../src/platform/operations/readiness.service.js';
import { PricesService } from './prices.service.js';
import { RatesClient } from './rates.client.js';

@ApiSchema({ name: 'Price' })
class PriceView {
  @Int64Property({ example: 1500 })
  readonly cents!: number;
}

@ApiTags('Prices')
@Controller({ path: 'prices', version: '1' })
@Public()
class PricesController {
  constructor(private readonly prices: PricesService) {}

  @Get(':currency')
  @ApiOperation({ summary: 'The price in a currency, in cents' })
  @Returns(PriceView)
  @Throws({ SERVICE_UNAVAILABLE: 'The exchange rates cannot be reached' })
  async read(@Param('currency') currency: string): Promise<PriceView> {
    return { cents: await this.prices.convert(1000, currency) };
  }
}

/** Where the exchange rates are, such as `http://rates:8080`. While it is empty, every price is 503. */
const RATES_URL = '';

/** Once it has an address, the service is not ready for requests while the exchange rates cannot be reached. */
@Module({
  controllers: [PricesController],
  providers: [PricesService, { provide: RatesClient, useFactory: () => new RatesClient(RATES_URL) }],
})
export class PricesModule implements OnModuleInit {
  constructor(
    private readonly readiness: Readiness,
    private readonly rates: RatesClient,
  ) {}

  onModuleInit(): void {
    if (this.rates.hasAddress) this.readiness.register('rates', (signal) => this.rates.ping(signal));
  }
}
