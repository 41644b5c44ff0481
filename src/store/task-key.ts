/** Which task: its id, and the owner in whose name it is asked for. */
export interface TaskKey {
  readonly id: string;
  readonly owner: string;
}
