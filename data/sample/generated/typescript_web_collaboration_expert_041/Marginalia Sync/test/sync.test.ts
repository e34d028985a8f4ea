import { AccessError, issueToken, readToken } from '../src/access';
import { compareStamps } from '../src/clock';
import { Replica } from '../src/replica';
import { Room } from '../src/room';
import { Op } from '../src/sequence';

declare const console: { log(line: string): void };
declare const process: { exitCode?: number };

const SECRET = 'a long secret of the account service';
const NOW = 1_700_000_000_000;
let failures = 0;

function check(what: string, actual: unknown, expected: unknown): void {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (got === wanted) return;
  failures += 1;
  console.log(`FAIL ${what}: expected ${wanted}, got ${got}`);
}

function checkThrows(what: string, action: () => unknown): void {
  try {
    action();
  } catch (problem) {
    check(what, problem instanceof AccessError, true);
    return;
  }
  check(what, 'no error', 'an AccessError');
}

function deliver(ops: Op[], ...replicas: Replica[]): void {
  for (const replica of replicas) ops.forEach((op) => replica.receive(op));
}

function openRoom(): Room {
  return new Room(SECRET, () => NOW);
}

function token(name: string, role: 'viewer' | 'editor' | 'owner'): string {
  return issueToken(name, role, NOW + 60_000, SECRET);
}

function stampsAreOrdered(): void {
  check('by counter', compareStamps({ counter: 2, site: 'a' }, { counter: 1, site: 'b' }) > 0, true);
  check('by site', compareStamps({ counter: 1, site: 'a' }, { counter: 1, site: 'b' }) < 0, true);
}

function editsAreLocalFirst(): void {
  const ana = new Replica('ana');
  ana.insert(0, 'hello');
  ana.insert(5, '!');
  ana.remove(0, 1);
  check('text', ana.text(), 'ello!');
}

function replicasConverge(): void {
  const [ana, ben] = [new Replica('ana'), new Replica('ben')];
  deliver(ana.insert(0, 'abc'), ben);
  const fromAna = ana.insert(0, 'x');
  const fromBen = [...ben.insert(3, 'y'), ...ben.insert(0, 'z')];
  deliver(fromAna, ben);
  deliver(fromBen, ana);
  check('ana', ana.text(), 'zxabcy');
  check('ben', ben.text(), 'zxabcy');
}

function earlyOperationsWait(): void {
  const [ana, ben] = [new Replica('ana'), new Replica('ben')];
  const ops = ana.insert(0, 'abc');
  deliver([ops[2], ops[1]], ben);
  check('waiting', ben.waitingCount(), 2);
  deliver([ops[0], ops[0]], ben);
  check('text', ben.text(), 'abc');
  check('nothing waits', ben.waitingCount(), 0);
}

function undoAndRedo(): void {
  const ana = new Replica('ana');
  ana.insert(0, 'cat');
  ana.remove(0, 1);
  ana.undo();
  check('undo', ana.text(), 'cat');
  ana.redo();
  check('redo', ana.text(), 'at');
}

function roomRelaysOperations(): void {
  const room = openRoom();
  const [ana, ben] = [new Replica('ana'), new Replica('ben')];
  const writer = room.join(token('ana', 'editor'));
  const reader = room.join(token('ben', 'viewer'));
  ana.insert(0, 'hi').forEach((op) => room.submit(writer.id, op));
  deliver(room.since(reader.id, ben.vector), ben);
  check('ben', ben.text(), 'hi');
  check('room', room.text(), 'hi');
  check('participants', room.participants(), ['ana', 'ben']);
}

function offlineBatchIsTaken(): void {
  const room = openRoom();
  const ana = new Replica('ana');
  const session = room.join(token('ana', 'editor'));
  const ops = ana.insert(0, 'abc');
  check('count', room.submitBatch(session.id, JSON.stringify([ops[1], ops[0], ops[2]])), 3);
  check('text', room.text(), 'abc');
}

function compactionDropsTombstones(): void {
  const room = openRoom();
  const ana = new Replica('ana');
  const owner = room.join(token('ana', 'owner'));
  [...ana.insert(0, 'abc'), ...ana.remove(1, 1)].forEach((op) => room.submit(owner.id, op));
  check('too early', room.compact(owner.id), 0);
  room.acknowledge(owner.id, ana.vector);
  check('dropped', room.compact(owner.id), 1);
  check('text', room.text(), 'ac');
}

function rolesAreKept(): void {
  const room = openRoom();
  const viewer = room.join(token('ben', 'viewer'));
  const editor = room.join(token('ana', 'editor'));
  const [op] = new Replica('ben').insert(0, 'x');
  checkThrows('viewer writes', () => room.submit(viewer.id, op));
  checkThrows('foreign site', () => room.submit(editor.id, op));
  checkThrows('editor compacts', () => room.compact(editor.id));
}

function tokensAreChecked(): void {
  check('grant', readToken(token('ana', 'owner'), SECRET, NOW), { name: 'ana', role: 'owner' });
  checkThrows('changed role', () => readToken(token('ana', 'viewer').replace('viewer', 'owner'), SECRET, NOW));
  checkThrows('expired', () => readToken(token('ana', 'viewer'), SECRET, NOW + 60_000));
}

stampsAreOrdered();
editsAreLocalFirst();
replicasConverge();
earlyOperationsWait();
undoAndRedo();
roomRelaysOperations();
offlineBatchIsTaken();
compactionDropsTombstones();
rolesAreKept();
tokensAreChecked();
console.log(failures === 0 ? 'all checks passed' : `${failures} checks failed`);
process.exitCode = failures === 0 ? 0 : 1;
