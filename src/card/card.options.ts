import type { AgentProvider, SecurityRequirement, SecurityScheme } from '#protocol';

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
   * A function is asked for each card, so that it may know a port that was chosen late.
   * @default the `Host` of the request for the card
   */
  readonly url?: string | (() => string);
  /** Says to clients what to send as `tenant`; then every request must name it. */
  readonly tenant?: string;
  readonly provider?: AgentProvider;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  /** @default ['text/plain'] */
  readonly defaultInputModes?: readonly string[];
  /** @default ['text/plain'] */
  readonly defaultOutputModes?: readonly string[];
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  readonly securityRequirements?: readonly SecurityRequirement[];
}

/** The injection token of the {@link CardOptions}. */
export const A2A_CARD_OPTIONS = Symbol('A2A_CARD_OPTIONS');

/** The media types of skills that name none. */
export const DEFAULT_MODES: readonly string[] = ['text/plain'];
