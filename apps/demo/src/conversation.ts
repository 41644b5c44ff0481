import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { TaskState, type AgentCard, type Part, type Task } from 'nestjs-a2a';
import { verifyAgentCard, type JwkSet } from 'nestjs-a2a/client';
import type { Tokens } from './auth/development-tokens.js';
import { DemoClient, userMessage, type Print } from './demo.client.js';
import { Webhook } from './webhook.js';

/**
 * Talks with the agent as another agent would, over HTTP.
 *
 * @param print told line by line what was asked and what came back
 * @returns the id of a task that was completed
 * @throws {AssertionError} when something else came back than should have
 */
export async function playConversation(url: string, tokens: Tokens, print: Print): Promise<string> {
  const alice = new DemoClient(url, tokens.alice, print);
  const reader = new DemoClient(url, tokens.reader, print);
  const bob = new DemoClient(url, tokens.bob, print);

  print('\n1. What can the agent do? Its card says so, to anyone, and is signed with a key that the agent publishes.');
  const received = await alice.get<AgentCard>('/.well-known/agent-card.json');
  const keys = await alice.get<JwkSet>('/.well-known/jwks.json');
  const { card, kid, alg } = await verifyAgentCard(received, { keys });
  print(`   The signature of key ${kid} (${alg}) is good.`);
  assert.deepEqual(
    card.skills.map(({ id }) => id),
    ['summarize-invoices', 'draft-reminder', 'export-invoices'],
  );

  print('\n2. Alice asks for a summary. The answer is a task, completed, with the summary as its artifact.');
  const period = { from: '2026-01-01', to: '2026-03-31' };
  const summary = await alice.send({ parts: [{ data: { skill: 'summarize-invoices', ...period } }] });
  assert.equal(summary.status.state, TaskState.Completed);
  assert.deepEqual(firstPart(summary), { data: { count: 5, total: 497_525, open: 109_575 } });

  print('\n3. She wants a reminder, but two open invoices fit. The task waits for her to say which.');
  const reminder = await alice.send({ metadata: { skill: 'draft-reminder' }, parts: [{ text: 'Globex' }] });
  assert.equal(reminder.status.state, TaskState.InputRequired);

  print('\n4. She answers, naming the task, and it goes on.');
  const letter = await alice.send({ taskId: reminder.id, parts: [{ text: 'A-1003' }] });
  assert.equal(letter.id, reminder.id);
  assert.equal(letter.status.state, TaskState.Completed);
  assert.match(JSON.stringify(firstPart(letter)), /Dear Globex team.*A-1003/u);

  print('\n5. She lists her tasks, the latest first.');
  const { tasks } = await alice.call<{ tasks: Task[] }>('ListTasks', { historyLength: 0 });
  assert.deepEqual(
    tasks.map(({ id }) => id),
    [letter.id, summary.id],
  );

  print('\n6. Bob asks for her task. For him there is none.');
  const hidden = await bob.refused('GetTask', { id: summary.id });
  assert.equal(hidden.code, -32001);

  print('\n7. With a token that may only read, she cannot have reminders drafted.');
  const forbidden = await reader.refused('SendMessage', {
    message: userMessage({ metadata: { skill: 'draft-reminder' }, parts: [{ text: 'Globex' }] }),
  });
  assert.equal(forbidden.status, 403);

  print('\n8. She starts an export and does not wait for its end.');
  const started = await alice.send(
    { metadata: { skill: 'export-invoices' }, parts: [{ text: 'all' }] },
    {
      returnImmediately: true,
    },
  );
  assert.notEqual(started.status.state, TaskState.Completed);
  await sleep(1_200);

  print('\n9. A moment later she has seen enough. What was exported so far stays.');
  const canceled = await alice.call<Task>('CancelTask', { id: started.id });
  assert.equal(canceled.status.state, TaskState.Canceled);
  const artifact = canceled.artifacts?.[0];
  assert.ok(artifact && artifact.parts.length < 7, 'The export was not under way.');

  print('\n10. Bob watches an export as it comes, line by line.');
  const lines: string[] = [];
  for await (const event of bob.stream({ metadata: { skill: 'export-invoices' }, parts: [{ text: 'all' }] })) {
    if ('artifactUpdate' in event) lines.push(...event.artifactUpdate.artifact.parts.map(textOf));
  }
  assert.match(lines.join(''), /^number,.*\nB-2001,.*\nB-2002,.*\nB-2003,.*\n$/u);

  print('\n11. Bob does not want to watch. He names a webhook, and is notified.');
  const webhook = await Webhook.open(keys, 'token-of-bob', print);
  try {
    const push = { taskPushNotificationConfig: { url: webhook.url, token: 'token-of-bob' } };
    const exported = await bob.send({ metadata: { skill: 'export-invoices' }, parts: [{ text: 'all' }] }, push);
    const told = await webhook.untilEnd(exported.id);
    assert.equal(told.flatMap((event) => ('artifactUpdate' in event ? [event] : [])).length, 4);
  } finally {
    await webhook.close();
  }

  return letter.id;
}

/**
 * Asks for a task after the application was started anew.
 *
 * @throws {AssertionError} when it is not what it was
 */
export async function playReturn(url: string, tokens: Tokens, taskId: string, print: Print): Promise<void> {
  print('\n12. The application was stopped and started. Her task is still there.');
  const letter = await new DemoClient(url, tokens.alice, print).call<Task>('GetTask', { id: taskId });
  assert.equal(letter.status.state, TaskState.Completed);
  assert.match(JSON.stringify(firstPart(letter)), /Dear Globex team/u);
}

function textOf(part: Part): string {
  return 'text' in part ? part.text : '';
}

function firstPart({ artifacts }: Task): Part | undefined {
  return artifacts?.[0]?.parts[0];
}
