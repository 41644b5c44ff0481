import type { SecurityRequirement, SecurityScheme } from '#protocol';

/**
 * The alternatives of the card as one skill needs them: with its scopes in the lists of OAuth 2 and OpenID Connect.
 *
 * Only those two kinds of scheme have scopes. For the others OpenAPI, whose model A2A takes over, wants an empty list
 * (3.0) or knows none but names that are not exchanged (3.1), and so they stay as the card has them. Where no
 * alternative can carry a scope, a skill would repeat the card, and has no requirements of its own.
 *
 * @returns empty when the skill needs nothing beyond the card's requirements
 * @see A2A v1.0 §4.4.5 AgentSkill, §4.5 Security Objects
 */
export function skillRequirements(
  scopes: readonly string[],
  requirements: readonly SecurityRequirement[],
  schemes: Readonly<Record<string, SecurityScheme>>,
): SecurityRequirement[] {
  const scoped = (name: string): boolean => {
    const scheme = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
    return scheme !== undefined && ('oauth2SecurityScheme' in scheme || 'openIdConnectSecurityScheme' in scheme);
  };
  if (scopes.length === 0 || !requirements.some((each) => Object.keys(each.schemes).some(scoped))) return [];
  return requirements.map((requirement) => ({
    schemes: Object.fromEntries(
      Object.entries(requirement.schemes).map(([name, { list }]) => [
        name,
        { list: scoped(name) ? [...new Set([...list, ...scopes])] : [...list] },
      ]),
    ),
  }));
}
