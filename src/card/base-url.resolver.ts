import { Inject, Injectable } from '@nestjs/common';
import { baseUrlOfRequest, isBaseUrl, pinnedBaseUrl, type BaseUrl } from './base-url.js';
import { A2A_CARD_OPTIONS, httpInterface, type CardOptions } from './card.options.js';

/** Says under which base URL the application is to be found. */
@Injectable()
export class BaseUrlResolver {
  constructor(@Inject(A2A_CARD_OPTIONS) private readonly options: CardOptions) {}

  /**
   * The configured base URL, asked for now when it is a function; else the origin of the first interface that is
   * configured, if it is one of HTTP; else the one that the request came by.
   *
   * @param request the request of the host's HTTP adapter
   * @throws {InvalidHostError} when the request has to say it and does not
   */
  async resolve(request: unknown): Promise<BaseUrl> {
    const { url } = this.options;
    if (url === undefined) {
      const named = httpInterface(this.options);
      return named ? pinnedBaseUrl(new URL(named.url).origin) : baseUrlOfRequest(request);
    }
    const text = typeof url === 'function' ? await url() : url;
    if (!isBaseUrl(text)) throw new TypeError('The function `card.url` gave no absolute URL of http or https.');
    return pinnedBaseUrl(text);
  }
}
