import { describe, expect, it } from '@jest/globals';
import { httpBearer, mutualTls, openIdConnect } from './security-schemes.js';
import { skillRequirements } from './skill-requirements.js';

const SCHEMES = { oidc: openIdConnect('https://id.example.com'), bearer: httpBearer(), tls: mutualTls() };

describe("A skill's requirements (CARD-04, §4.4.5)", () => {
  it("add its scopes to the card's, each once", () => {
    const requirements = [{ schemes: { oidc: { list: ['openid', 'a'] } } }];
    expect(skillRequirements(['a', 'b'], requirements, SCHEMES)).toEqual([
      { schemes: { oidc: { list: ['openid', 'a', 'b'] } } },
    ]);
    expect(requirements).toEqual([{ schemes: { oidc: { list: ['openid', 'a'] } } }]);
  });

  it('leave schemes without scopes as they are, alone and beside others', () => {
    const requirements = [
      { schemes: { oidc: { list: [] }, tls: { list: [] } } },
      { schemes: { bearer: { list: ['role'] } } },
    ];
    expect(skillRequirements(['a'], requirements, SCHEMES)).toEqual([
      { schemes: { oidc: { list: ['a'] }, tls: { list: [] } } },
      { schemes: { bearer: { list: ['role'] } } },
    ]);
  });

  it.each([
    ['it has no scopes', [], [{ schemes: { oidc: { list: [] } } }]],
    ['no alternative can carry them', ['a'], [{ schemes: { bearer: { list: [] }, tls: { list: [] } } }]],
    ['the card requires nothing', ['a'], []],
    ['a name is that of a property of all objects', ['a'], [{ schemes: { toString: { list: [] } } }]],
  ])('are none when %s', (_name, scopes, requirements) => {
    expect(skillRequirements(scopes, requirements as never, SCHEMES)).toEqual([]);
  });
});
