import { closeQuietly, type FileSystem } from "./file-system.ts";

/** An open descriptor that the pool may close when others need its room. */
export interface Descriptor {
  /** The number; undefined once it was closed. */
  fd: number | undefined;
  readonly fs: FileSystem;
  /** Whether it was used since the last sweep. */
  isFresh: boolean;
}

/** More sessions than one process writes to at a time; far below what a process may open. */
const MAX_OPEN = 64;
const SWEEP_MS = 30_000;

/** In order of last use, the oldest first. */
const open = new Set<Descriptor>();
let sweeper: NodeJS.Timeout | undefined;

const collected = new FinalizationRegistry<Descriptor>(releaseDescriptor);

/**
 * Takes a descriptor into the pool: it is closed when idle for half a minute, when 64 others were used since, when its
 * owner is collected, or by `releaseDescriptor`.
 */
export function poolDescriptor(fs: FileSystem, fd: number, owner: object): Descriptor {
  const descriptor: Descriptor = { fd, fs, isFresh: true };
  open.add(descriptor);
  collected.register(owner, descriptor, descriptor);
  for (const oldest of open) {
    if (open.size <= MAX_OPEN) break;
    releaseDescriptor(oldest);
  }
  sweeper ??= setInterval(sweep, SWEEP_MS).unref();
  return descriptor;
}

/** Notes that a descriptor is in use. */
export function touchDescriptor(descriptor: Descriptor): void {
  if (descriptor.isFresh) return;
  descriptor.isFresh = true;
  open.delete(descriptor);
  open.add(descriptor);
}

/** Closes a descriptor; once is enough. It never fails: whoever opened the next file is not to blame for the last. */
export function releaseDescriptor(descriptor: Descriptor): void {
  const { fd } = descriptor;
  if (fd === undefined) return;
  descriptor.fd = undefined;
  open.delete(descriptor);
  collected.unregister(descriptor);
  closeQuietly(descriptor.fs, fd);
}

function sweep(): void {
  for (const descriptor of [...open]) {
    if (!descriptor.isFresh) releaseDescriptor(descriptor);
    descriptor.isFresh = false;
  }
  if (open.size > 0) return;
  clearInterval(sweeper);
  sweeper = undefined;
}
