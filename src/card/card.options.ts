import type { AgentCard, AgentInterface, AgentProvider, SecurityRequirement, SecurityScheme } from '#protocol';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { isBaseUrl } from './base-url.js';

/** An interface as the options name it; the rest is that of this package's endpoint. */
export type CardInterface = Pick<AgentInterface, 'url'> & Partial<AgentInterface>;

/**
 * What the agent's card says of it.
 *
 * @see A2A v1.0 §4.4.1 AgentCard
 */
export interface CardOptions {
  readonly name: string;
  readonly description: string;
  /** @default '1.0.0' */
  readonly version?: string;
  /**
   * The public base URL of the application, such as `https://invoices.example.com`; the endpoint's path is added.
   * A function is asked whenever the card is served and never at boot, so that it may know a port that was chosen late.
   *
   * @default the `Host` of the request for the card
   */
  readonly url?: string | (() => string | Promise<string>);
  /**
   * The interfaces to advertise, the preferred one first, instead of those below `url`: for a proxy that serves the
   * endpoint under another path.
   *
   * @default the bindings that are mounted
   */
  readonly interfaces?: readonly CardInterface[];
  /** Says to clients what to send as `tenant`; then every request must name it. */
  readonly tenant?: string;
  readonly provider?: AgentProvider;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  /** @default ['text/plain'] */
  readonly defaultInputModes?: readonly string[];
  /** @default ['text/plain'] */
  readonly defaultOutputModes?: readonly string[];
  /**
   * How callers may prove who they are, by names of your choice, such as `{ bearer: httpBearer('JWT') }`.
   *
   * @see A2A v1.0 §4.5 Security Objects
   */
  readonly security?: Readonly<Record<string, SecurityScheme>>;
  /**
   * Which of the schemes a call needs: any one of these alternatives, and in it all the schemes that it names.
   *
   * @default each scheme of `security` is an alternative of its own, and asks for no scope
   */
  readonly securityRequirements?: readonly SecurityRequirement[];
  /** For how long caches may keep the public documents, in seconds. @default 60 */
  readonly maxAgeSeconds?: number;
  /** Whether the card is served at `/.well-known/agent.json` too, where older clients look. @default true */
  readonly legacyPath?: boolean;
  /**
   * Makes the card that one request is answered with, out of a copy of the public one. Such an answer is made anew each
   * time, is kept by no shared cache and asked about by every other, and is not readable across origins.
   *
   * The request is that of the host's HTTP adapter.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the host's own request type, whatever it is
  readonly forRequest?: (card: AgentCard, request: any) => AgentCard | Promise<AgentCard>;
}

/** The injection token of the {@link CardOptions}. */
export const A2A_CARD_OPTIONS = Symbol('A2A_CARD_OPTIONS');

/** The media types of skills that name none. */
export const DEFAULT_MODES: readonly string[] = ['text/plain'];

/** How long caches may keep a public document that does not say so itself, in seconds. */
export const DEFAULT_MAX_AGE = 60;

/**
 * The alternatives that a call may be authenticated by.
 *
 * @see A2A v1.0 §4.5 Security Objects
 */
export function requirementsOf({ security = {}, securityRequirements }: CardOptions): readonly SecurityRequirement[] {
  return securityRequirements ?? Object.keys(security).map((name) => ({ schemes: { [name]: { list: [] } } }));
}

/** The first of the configured interfaces that is called over HTTP. */
export function httpInterface({ interfaces }: CardOptions): CardInterface | undefined {
  return interfaces?.find(({ url }) => /^https?:/iu.test(url));
}

/** @throws {A2AConfigurationError} for options that no right card can be made of */
export function assertCardOptions(options: CardOptions): void {
  const { name, description, url, interfaces, security = {} } = options;
  if (!name || !description) {
    throw new A2AConfigurationError('The options `card.name` and `card.description` are missing. Give the agent both.');
  }
  if (typeof url === 'string' && !isBaseUrl(url)) {
    throw new A2AConfigurationError(
      `The option \`card.url\` is ${JSON.stringify(url)}. Give it an absolute http or https URL without a query, such as "https://agent.example.com".`,
    );
  }
  const wrong = interfaces?.find((each) => !URL.canParse(each.url));
  if (wrong || interfaces?.length === 0) {
    throw new A2AConfigurationError(
      `The option \`card.interfaces\` must name absolute URLs${wrong ? `, and ${JSON.stringify(wrong.url)} is none` : ''}. Correct it, or leave it out.`,
    );
  }
  const unknown = requirementsOf(options)
    .flatMap(({ schemes }) => Object.keys(schemes))
    .find((scheme) => !Object.hasOwn(security, scheme));
  if (unknown !== undefined) {
    throw new A2AConfigurationError(
      `\`card.securityRequirements\` names the scheme ${JSON.stringify(unknown)}, which is not in \`card.security\`. Add it there.`,
    );
  }
}
