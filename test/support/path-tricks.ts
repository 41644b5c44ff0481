/** Ways to spell `/invoices`, or to come to it from what stands before it. Some routers read some of them so. */
function spellings(before: string): readonly string[] {
  return [
    `${before}/../invoices`,
    `${before}/%2e%2e/invoices`,
    `${before}/%2E./invoices`,
    `${before}/..%2finvoices`,
    `${before}%2f..%2finvoices`,
    `${before}/..;/invoices`,
    `${before}\\..\\invoices`,
    `${before}/..\\invoices`,
    `${before}//../invoices`,
    `${before}#/../invoices`,
    `${before};/../invoices`,
    `${before}/invoices`,
  ];
}

/**
 * Request targets of which none is a path of the agent to the letter. Most come to a route of the host, or to one that
 * takes everything.
 *
 * @param endpoint such as `/a2a`
 */
export function pathTricks(endpoint: string): readonly string[] {
  const upper = endpoint.toUpperCase();
  const encoded = endpoint.replace('a2a', '%61%32%61');
  return [
    ...['/', '/invoices', '/invoices/', '/invoices/7', '/INVOICES', '/Invoices', '/%69nvoices', '/invoice%73'],
    ...['//invoices', '///invoices', '/./invoices', '/x/../invoices', '/invoices/.', '/invoices/x/..', '/invoices%2f'],
    ...[
      '/invoices?x',
      `/invoices?${endpoint}`,
      `/invoices?/../${endpoint}`,
      '/invoices;x',
      '/invoices#x',
      '/\\invoices',
    ],
    ...[
      'http://localhost/invoices',
      'HTTP://localhost//invoices',
      'https://a:b@localhost/invoices',
      '//localhost/invoices',
    ],
    ...[
      `http://localhost${endpoint}`,
      'http://localhost/health',
      `//localhost${endpoint}`,
      `/?${endpoint}`,
      '/%',
      '/%c0%ae',
    ],
    ...spellings(endpoint),
    ...spellings('/health'),
    ...spellings('/.well-known'),
    ...spellings('/.well-known/agent-card.json').filter((path) => !path.endsWith('json/invoices')),
    // Below the metadata of a resource is the metadata of its parts; what climbs out of it is not.
    ...spellings('/.well-known/oauth-protected-resource').filter((path) => !path.endsWith('resource/invoices')),
    ...[upper, `${upper}/`, encoded, `${encoded}/`, `/${endpoint}`, `/.${endpoint}`, `${endpoint}//`, `${endpoint}/.`],
    ...[`${endpoint}%2f`, `${endpoint}%20`, `${endpoint}%00`, `${endpoint};x`, `${endpoint}#x`, `${endpoint}.`],
    ...[`${endpoint}%3Fx`, `${endpoint}&x`, `${endpoint}\\`, `/invoices/..${endpoint}`, `${endpoint}/admin`],
    ...[
      '/health/',
      '/HEALTH',
      '/health/x',
      '/healthz',
      '/health%2flive',
      '/health/live/',
      '/health/live/..',
      '/h%65alth',
    ],
    ...[
      '/.well-known/',
      '/.well-known/agent-card.json/',
      '/.well-known/AGENT-CARD.json',
      '/.WELL-KNOWN/agent-card.json',
    ],
    ...['/.well-known/agent-card.json%00', '/.well-known/agent-card.jsonx', '/.well-known%2fagent-card.json'],
    ...[
      '/.well-known/oauth-protected-resources',
      '/.well-known/oauth-protected-resource//',
      '/.well-known/openid-configuration',
    ],
    ...['/.well-known/oauth-protected-resource/.', '/.well-known/oauth-protected-resource/.git', '/socket.io/?EIO=4'],
  ];
}
