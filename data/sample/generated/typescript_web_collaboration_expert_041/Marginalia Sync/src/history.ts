import { stampKey } from './clock';
import type { Replica } from './replica';
import { Item, Op } from './sequence';

const LIMIT = 100;

/** Undo and redo of one participant's edits; an edit is a group of operations. */
export class History {
  private undoStack: Op[][] = [];
  private redoStack: Op[][] = [];

  /** Remembers an edit that the participant has just made. */
  record(group: Op[]): void {
    if (group.length === 0) return;
    this.undoStack.push(group);
    if (this.undoStack.length > LIMIT) this.undoStack.shift();
    this.redoStack = [];
  }

  /** Takes the last edit back and returns the operations that do it. */
  undo(replica: Replica): Op[] {
    const group = this.undoStack.pop();
    if (group === undefined) return [];
    const inverse = this.invert(group, replica);
    this.redoStack.push(inverse);
    return inverse;
  }

  redo(replica: Replica): Op[] {
    const group = this.redoStack.pop();
    if (group === undefined) return [];
    const inverse = this.invert(group, replica);
    this.undoStack.push(inverse);
    return inverse;
  }

  private invert(group: Op[], replica: Replica): Op[] {
    const inverse: Op[] = [];
    for (const op of [...group].reverse()) {
      const key = op.kind === 'insert' ? stampKey(op.id) : op.target;
      const item = this.find(replica, key);
      if (item === undefined) continue;
      if (op.kind === 'delete') inverse.push(replica.insertAfter(key, item.text));
      else if (!item.deleted) inverse.push(replica.deleteItem(key));
    }
    return inverse;
  }

  private find(replica: Replica, key: string): Item | undefined {
    return replica.sequence.items.find((item) => stampKey(item.id) === key);
  }
}
