import type { Tokens } from './auth/development-tokens.js';

/** What to paste into a shell to try the application. */
export function welcome(url: string, { alice, reader, bob }: Tokens): string {
  return `
The agent's card: ${url}/.well-known/agent-card.json

Tokens for development; READER is Alice again, with invoices:read only. Paste these lines into a shell first:
ALICE=${alice}
READER=${reader}
BOB=${bob}

The card, which needs no token:
${curl(`${url}/.well-known/agent-card.json`)}

An ordinary REST route behind the same guard:
${curl(`${url}/invoices`, 'ALICE')}

Summarize the invoices of a quarter:
${send(url, { parts: [{ data: { skill: 'summarize-invoices', from: '2026-01-01', to: '2026-03-31' } }] })}

Draft a reminder. There are two open invoices, so the task asks which one is meant:
${send(url, { metadata: { skill: 'draft-reminder' }, parts: [{ text: 'Globex' }] })}

Answer. Put the id of the task in the place of TASK_ID:
${send(url, { taskId: 'TASK_ID', parts: [{ text: 'A-1003' }] })}

Watch an export as it comes:
${stream(url, { metadata: { skill: 'export-invoices' }, parts: [{ text: 'all' }] })}

List the tasks. With $BOB, or with $READER, there are none of these:
${rpc(url, 'ListTasks', {})}
`;
}

function send(url: string, message: object): string {
  return rpc(url, 'SendMessage', { message: { messageId: 'message-1', role: 'ROLE_USER', ...message } });
}

function stream(url: string, message: object): string {
  const params = { message: { messageId: 'message-2', role: 'ROLE_USER', ...message } };
  return rpc(url, 'SendStreamingMessage', params).replace('curl -s', 'curl -sN');
}

function rpc(url: string, method: string, params: object): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return `${curl(`${url}/a2a`, 'ALICE')} -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d '${body}'`;
}

function curl(url: string, token?: string): string {
  return `curl -s ${url}${token === undefined ? '' : ` -H "Authorization: Bearer $${token}"`}`;
}
