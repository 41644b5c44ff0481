export * from './task-drafts.js';
export { describeTaskStore, type TaskStoreSubject } from './task-store.contract.js';
